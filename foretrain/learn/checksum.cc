// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/checksum.h"

#include <array>

namespace foretrain::learn {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0xEDB88320U : 0U);
    table[i] = rest;
  }
  return table;
}

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_table();
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    sum = kTable[(sum ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (sum >> 8);
  }
  return sum ^ 0xFFFFFFFFU;
}

}  // namespace foretrain::learn
