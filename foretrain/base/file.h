// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace foretrain {

// "file 'x.json'", for messages.
std::string named(const std::filesystem::path& file);

// The whole content. Throws Error naming the file: Io where it is missing or cannot be read,
// BadInput for a folder or more than `most_bytes`.
std::string read_file(const std::filesystem::path& file, std::uintmax_t most_bytes);

}  // namespace foretrain
