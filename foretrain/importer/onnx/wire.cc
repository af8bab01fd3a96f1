// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/wire.h"

#include <bit>
#include <cstring>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/importer/onnx/files.h"

namespace foretrain::importer {
namespace {

constexpr std::size_t kLongestStart = 20;  // bytes of a field's number and its value or length

template <typename Number>
Number read_little_endian(const char* bytes) {
  static_assert(std::endian::native == std::endian::little, "protobuf is little-endian");
  Number number{};
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

}  // namespace

void WireReader::fail(const char* what) const {
  throw Error(ErrorKind::BadInput, std::string(what) + " at byte " +
                                       std::to_string(rest_.data() - file_) +
                                       "; the file is cut off, damaged or not ONNX");
}

void WireReader::load(std::string_view part) const {
  if (files_ != nullptr) files_->load(part);
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) fail("a number ends too early");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  fail("a number is too long");
}

std::string_view WireReader::take(std::uint64_t count) {
  if (count > rest_.size()) fail("a field ends beyond its message");
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
  rest_.remove_prefix(taken.size());
  return taken;
}

bool WireReader::next() {
  if (rest_.empty()) return false;
  load(rest_.substr(0, kLongestStart));
  const std::uint64_t tag = varint();
  field_ = tag >> 3U;
  if (field_ == 0) fail("a field has the number 0");
  switch (tag & 7U) {
    case 0:
      form_ = Form::Varint;
      number_ = varint();
      break;
    case 1:
      form_ = Form::Eight;
      number_ = read_little_endian<std::uint64_t>(take(8).data());
      break;
    case 2:
      form_ = Form::Bytes;
      bytes_ = take(varint());
      break;
    case 5:
      form_ = Form::Four;
      number_ = read_little_endian<std::uint32_t>(take(4).data());
      break;
    default:
      fail("a field has an unknown form");
  }
  return true;
}

std::int64_t WireReader::integer() const {
  if (form_ != Form::Varint) fail("a whole number is missing");
  return static_cast<std::int64_t>(number_);
}

double WireReader::real() const {
  if (form_ == Form::Eight) return std::bit_cast<double>(number_);
  if (form_ != Form::Four) fail("a floating-point number is missing");
  return std::bit_cast<float>(static_cast<std::uint32_t>(number_));
}

std::string_view WireReader::place() const {
  if (form_ != Form::Bytes) fail("a message or string is missing");
  return bytes_;
}

std::string_view WireReader::bytes() const {
  load(place());
  return bytes_;
}

void WireReader::append_integers(std::vector<std::int64_t>& values, std::size_t most) const {
  if (form_ != Form::Bytes) {
    values.push_back(integer());
  } else {
    constexpr std::size_t kLongest = 10;  // bytes of a number
    load(bytes_.substr(0, (most + 1) * kLongest));
    WireReader packed(bytes_, file_);
    while (!packed.rest_.empty() && values.size() <= most) {
      values.push_back(static_cast<std::int64_t>(packed.varint()));
    }
  }
  if (values.size() > most) fail("a list is too long");
}

void WireReader::append_reals(std::vector<double>& values, std::size_t most) const {
  if (form_ != Form::Bytes) {
    values.push_back(real());
  } else {
    if (bytes_.size() % 4 != 0) fail("a list of numbers is cut off");
    load(bytes_.substr(0, 4 * (most + 1)));
    for (std::size_t at = 0; at < bytes_.size() && values.size() <= most; at += 4) {
      values.push_back(read_little_endian<float>(bytes_.data() + at));
    }
  }
  if (values.size() > most) fail("a list is too long");
}

}  // namespace foretrain::importer
