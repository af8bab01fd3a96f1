// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/detail/pack_samples.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "foretrain/base/error.h"

namespace foretrain::store {
namespace {

// Of the largest magnitude; a power of two, so that packing again changes nothing.
constexpr double kLevels = 1024;
// Zigzag codes: differences lie within twice the levels, so this one stands for NaN.
constexpr std::uint32_t kUnknown = 8191;
constexpr std::size_t kMostValues = 10'000'000;

[[noreturn]] void bad(const char* what) {
  throw Error(ErrorKind::BadInput, std::string("packed samples: ") + what);
}

void put(std::uint32_t code, std::string& bytes) {
  for (; code >= 0x80; code >>= 7) bytes.push_back(static_cast<char>(0x80 | (code & 0x7F)));
  bytes.push_back(static_cast<char>(code));
}

std::uint32_t take(std::string_view& bytes) {
  std::uint32_t code = 0;
  for (int shift = 0; shift < 14; shift += 7) {
    if (bytes.empty()) bad("they end in the middle of a value");
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    code |= (byte & 0x7FU) << shift;
    if (byte < 0x80) return code;
  }
  bad("a value is too large");
}

std::uint32_t zigzag(std::int32_t difference) {
  return difference < 0 ? static_cast<std::uint32_t>(-2 * difference - 1)
                        : static_cast<std::uint32_t>(2 * difference);
}

std::int32_t unzigzag(std::uint32_t code) {
  const auto half = static_cast<std::int32_t>(code / 2);
  return code % 2 == 0 ? half : -half - 1;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
            Z_BEST_COMPRESSION);
  packed.resize(size);
  return packed;
}

std::string inflated(std::string_view packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) bad("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string bytes;
  int code = Z_OK;
  while (code == Z_OK && bytes.size() < 2 * kMostValues) {
    char part[16'384];
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof(part);
    code = inflate(&stream, Z_NO_FLUSH);
    bytes.append(part, sizeof(part) - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END) bad("they are damaged, cut off or too many");
  return bytes;
}

}  // namespace

std::string pack_samples(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const double quantum = largest / kLevels;
  std::string bytes(sizeof(quantum), '\0');
  std::memcpy(bytes.data(), &quantum, sizeof(quantum));
  std::int32_t before = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      put(kUnknown, bytes);
      continue;
    }
    const auto level = static_cast<std::int32_t>(quantum > 0 ? std::lround(value / quantum) : 0);
    put(zigzag(level - before), bytes);
    before = level;
  }
  return deflated(bytes);
}

std::vector<double> unpack_samples(std::string_view packed) {
  const std::string bytes = inflated(packed);
  double quantum = 0;
  if (bytes.size() < sizeof(quantum)) bad("they are cut off");
  std::memcpy(&quantum, bytes.data(), sizeof(quantum));
  if (!std::isfinite(quantum) || quantum < 0) bad("their quantum is no number");
  std::string_view rest = std::string_view(bytes).substr(sizeof(quantum));
  std::vector<double> values;
  std::int32_t level = 0;
  while (!rest.empty()) {
    if (values.size() == kMostValues) bad("there are too many");
    const std::uint32_t code = take(rest);
    if (code == kUnknown) {
      values.push_back(std::nan(""));
      continue;
    }
    level += unzigzag(code);
    values.push_back(level * quantum);
  }
  return values;
}

}  // namespace foretrain::store
