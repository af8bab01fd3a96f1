# SPDX-License-Identifier: Apache-2.0
# What find_package(foretrain) reads: the target foretrain::foretrain.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/foretrain-targets.cmake)
