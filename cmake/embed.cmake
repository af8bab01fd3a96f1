# SPDX-License-Identifier: Apache-2.0
#
# foretrain_embed(TARGET NAME identifier [ROOT folder] FILES file...)
#
# Copies files below ROOT (data/) into TARGET as `const std::span<const EmbeddedFile> identifier`,
# which may be qualified (foretrain::hw::kHardwareFiles); see foretrain/base/embedded.h.
# A changed file is embedded anew by the next build.
function(foretrain_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;ROOT" "FILES")
  if(NOT arg_ROOT)
    set(arg_ROOT ${PROJECT_SOURCE_DIR}/data)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()  # a folder without sources yet: nobody reads the files
  endif()
  set(generator ${PROJECT_SOURCE_DIR}/cmake/embed.py)
  string(REPLACE "::" "_" file ${arg_NAME})
  set(output ${PROJECT_BINARY_DIR}/embedded/${file}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND Python3::Interpreter ${generator} ${arg_NAME} ${arg_ROOT} ${output}
            ${arg_FILES}
    DEPENDS ${generator} ${arg_FILES}
    COMMENT "Embedding ${arg_NAME}"
    VERBATIM)
  # Clang warns about literals of more than 64 KiB, which every compiler here accepts.
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -w SKIP_LINTING ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
