// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/utf8.h"

#include <array>

namespace foretrain {

std::optional<std::pair<std::size_t, std::uint32_t>> first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return std::pair{std::size_t{1}, std::uint32_t{byte(0)}};
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return std::nullopt;
  std::uint32_t code = byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return std::nullopt;
    code = (code << 6u) | (byte(i) & 0x3fu);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[length] || code > 0x10ffff || surrogate) return std::nullopt;
  return std::pair{length, code};
}

}  // namespace foretrain
