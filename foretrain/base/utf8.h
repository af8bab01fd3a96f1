// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace foretrain {

// The length of the UTF-8 character at the start of `text`, which is not empty, and its code point;
// none where the bytes are not UTF-8 (RFC 3629: shortest form, no surrogates, at most U+10FFFF).
std::optional<std::pair<std::size_t, std::uint32_t>> first_character(std::string_view text);

}  // namespace foretrain
