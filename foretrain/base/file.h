// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace foretrain {

// "file 'x.json'", for messages.
std::string named(const std::filesystem::path& file);

// The whole content. Throws Error naming the file: Io where it is missing or cannot be read,
// BadInput for a folder or more than `most_bytes`.
std::string read_file(const std::filesystem::path& file, std::uintmax_t most_bytes);

// The same where the first bytes (up to 64 KiB) decide how many there may be: `most_bytes_of` is
// asked for that. Where it says 0, they are all that is returned.
std::string read_file(const std::filesystem::path& file, std::uintmax_t most_bytes,
                      const std::function<std::uintmax_t(std::string_view)>& most_bytes_of);

}  // namespace foretrain
