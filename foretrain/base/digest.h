// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretrain {

// Tells texts apart: 64-bit FNV-1a. No protection against somebody who looks for equal ones.
constexpr std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

// As 16 hexadecimal digits.
std::string digest_text(std::uint64_t value);

}  // namespace foretrain
