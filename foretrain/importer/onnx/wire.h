// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace foretrain::importer {

// Walks the fields of one protobuf message in memory. Nothing is copied and what is not asked
// for is not touched, so a message may be larger than memory when it is a mapped file.
// Throws Error(BadInput) with the place in the file where it is cut off or damaged.
// Source of the format: https://protobuf.dev/programming-guides/encoding/
class WireReader {
 public:
  // `file` is where counting of bytes starts, for messages.
  WireReader(std::string_view message, const char* file) : rest_(message), file_(file) {}

  // Moves to the next field; false at the end.
  bool next();
  std::uint64_t field() const { return field_; }
  bool is_list() const { return form_ == Form::Bytes; }  // a packed list, a string or a message

  // The value of the field, which must have been written as such.
  std::int64_t integer() const;
  double real() const;  // a 32-bit or 64-bit float
  std::string_view bytes() const;
  WireReader message() const { return {bytes(), file_}; }

  // Appends the field's values, one or a packed list of them. Beyond `most` it fails.
  void append_integers(std::vector<std::int64_t>& values, std::size_t most) const;
  void append_reals(std::vector<double>& values, std::size_t most) const;

  [[noreturn]] void fail(const char* what) const;

 private:
  enum class Form : std::uint8_t { Varint = 0, Eight = 1, Bytes = 2, Four = 5 };

  std::uint64_t varint();
  std::string_view take(std::uint64_t count);

  std::string_view rest_;
  const char* file_;
  std::uint64_t field_ = 0;
  Form form_ = Form::Varint;
  std::uint64_t number_ = 0;  // of a varint or a fixed field
  std::string_view bytes_;
};

}  // namespace foretrain::importer
