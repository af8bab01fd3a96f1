// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t kNoDigit = 255;

// The value of each digit.
constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

[[noreturn]] void bad() {
  throw Error(ErrorKind::BadInput, "a text that should be base64 is cut off or damaged");
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text.push_back(j <= count ? kDigits[group >> (18 - 6 * j) & 63U] : '=');
    }
  }
  return text;
}

std::string from_base64(std::string_view text) {
  if (text.size() % 4 != 0) bad();
  const std::size_t padding = text.empty() ? 0 : text.size() - 1 - text.find_last_not_of('=');
  if (padding > 2) bad();
  std::string bytes(text.size() / 4 * 3, '\0');
  char* to = bytes.data();
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 4; ++j) {
      const bool digit = j < text.size() - padding;
      const std::uint8_t value = digit ? kValues[static_cast<unsigned char>(text[j])] : 0;
      if (value == kNoDigit) bad();
      group = group << 6 | value;
    }
    for (int shift = 16; shift >= 0; shift -= 8) *to++ = static_cast<char>(group >> shift);
  }
  bytes.erase(bytes.size() - padding);
  return bytes;
}

std::string base64(std::span<const float> numbers) {
  std::string bytes(numbers.size_bytes(), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return base64(bytes);
}

std::vector<float> floats_from_base64(std::string_view text) {
  const std::string bytes = from_base64(text);
  if (bytes.size() % sizeof(float) != 0) bad();
  std::vector<float> numbers(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace foretrain
