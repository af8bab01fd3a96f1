// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace foretrain {

// A file of data/ that the build copied into the program (`foretrain_embed` in cmake/embed.cmake).
// `name` is its path below data/ (or another root), with forward slashes:
// "hardware/devices/t4.json". The owner declares the list, sorted by name, in its own namespace:
//   extern const std::span<const EmbeddedFile> kHardwareFiles;
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

}  // namespace foretrain
