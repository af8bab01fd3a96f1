// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrain::learn {

// CRC-32 as zlib and PNG define it: tells damaged files from whole ones, not forged from true ones.
std::uint32_t checksum(std::string_view bytes);

}  // namespace foretrain::learn
