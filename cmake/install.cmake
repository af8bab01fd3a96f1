# SPDX-License-Identifier: Apache-2.0
#
# foretrain_install(module...)
#
# Installs what a program that uses the library needs: the public headers and static libraries of these modules, and a
# package, so that find_package(foretrain) gives it foretrain::foretrain. `cmake --install build/release --component
# development` installs this alone. Internal headers, those of tests and the one that shows a third-party type stay here.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

function(foretrain_install)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/foretrain)
  set(libraries ${ARGV})
  list(TRANSFORM libraries PREPEND foretrain_)
  install(TARGETS foretrain ${libraries} EXPORT foretrain
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT foretrain NAMESPACE foretrain:: FILE foretrain-targets.cmake
          DESTINATION ${package} COMPONENT development)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/foretrain-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/foretrain-config.cmake ${PROJECT_BINARY_DIR}/foretrain-config-version.cmake
          DESTINATION ${package} COMPONENT development)
  foreach(name IN LISTS ARGV)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/foretrain/${name}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/foretrain COMPONENT development
            FILES_MATCHING PATTERN *.h
            REGEX "/foretrain/${name}/[^/.]+$" EXCLUDE
            REGEX "/test_[^/]*$" EXCLUDE
            REGEX "/base/json\\.h$" EXCLUDE)
  endforeach()
endfunction()
