// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

// With padding (RFC 4648).
std::string base64(std::string_view bytes);
// Throws Error(BadInput) for what is no base64.
std::string from_base64(std::string_view text);

// Numbers by their bits: 32-bit floats, little endian.
std::string base64(std::span<const float> numbers);
// Throws Error(BadInput) also where the bytes are not those of whole floats.
std::vector<float> floats_from_base64(std::string_view text);

}  // namespace foretrain
