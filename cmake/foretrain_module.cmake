# SPDX-License-Identifier: Apache-2.0
#
# foretrain_module(NAME [USES module...] [TESTS_USE module...] [APART] [LINKS library...])
#
# The folder foretrain/NAME with its subfolders becomes the static library foretrain_NAME, and its
# *_test.cc files, with what they share in test_*, the test foretrain_NAME_test. USES names the modules
# it includes, TESTS_USE those that only its tests do; tools/check_layers.py holds every #include
# against them. LINKS names third-party libraries, which stay private.
# APART keeps it out of `foretrain`, what programs and the Python package link. A main.cc is no part
# of the library.
# Tests run in the source folder, so that they open data by relative paths.
function(foretrain_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "APART" "" "USES;TESTS_USE;LINKS")
  set(folder ${PROJECT_SOURCE_DIR}/foretrain/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${folder}/*_test.cc ${folder}/test_*.cc)
  list(REMOVE_ITEM sources "" ${tests} ${folder}/main.cc)
  list(TRANSFORM arg_USES PREPEND foretrain_)
  list(TRANSFORM arg_TESTS_USE PREPEND foretrain_)

  set(library foretrain_${name})
  if(sources)
    add_library(${library} STATIC ${sources})
    target_link_libraries(${library} PUBLIC $<BUILD_INTERFACE:foretrain_options> Threads::Threads ${arg_USES}
                                     PRIVATE ${arg_LINKS})
    target_compile_features(${library} PUBLIC cxx_std_20)
    foretrain_use_precompiled(${library} foretrain_precompiled)
    foretrain_unity(${library})
  else()
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE $<BUILD_INTERFACE:foretrain_options> ${arg_USES})
  endif()
  if(NOT arg_APART)
    set_property(GLOBAL APPEND PROPERTY FORETRAIN_MODULES ${name})
  endif()
  foretrain_test(${library}_test SOURCES ${tests} LINKS ${library} ${arg_TESTS_USE} ${arg_LINKS})
endfunction()

# One GoogleTest executable from SOURCES, registered as one test; nothing where there are none.
function(foretrain_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  if(NOT BUILD_TESTING OR NOT arg_SOURCES)
    return()
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINKS} GTest::gtest_main)
  foretrain_cold(${target} -O0)
  foretrain_use_precompiled(${target} foretrain_precompiled_test)
  foretrain_unity(${target})
  add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

# Compiles files of a target together where FORETRAIN_UNITY is on and their names allow it; unity_groups.py says which.
function(foretrain_unity target)
  if(NOT FORETRAIN_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py 1500 ${sources}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE groups
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" groups "${groups}")
  foreach(source group IN ZIP_LISTS sources groups)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes every file but the one that it was given for a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# What is compiled more often than its speed matters: tests without optimisation, the command's options with little.
# Libraries and programs get the same flags, so that headers compiled once serve both.
function(foretrain_cold target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

# foretrain_precompile(NAME header...): compiles headers once, for targets with the flags of the target NAME.
function(foretrain_precompile target)
  file(CONFIGURE OUTPUT precompiled.cc CONTENT "")
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(${target} PRIVATE foretrain_options)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# Where there are such headers.
function(foretrain_use_precompiled target precompiled)
  if(TARGET ${precompiled})
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
endfunction()
