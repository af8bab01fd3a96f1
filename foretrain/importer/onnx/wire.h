// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace foretrain::importer {

class OnnxFiles;

// Walks the fields of one protobuf message. Nothing is copied and what is not asked for is not
// touched, so a message may be larger than memory when it lies in a file that is read in parts.
// Throws Error(BadInput) with the place in the file where it is cut off or damaged.
// Source of the format: https://protobuf.dev/programming-guides/encoding/
class WireReader {
 public:
  // `file` is where counting of bytes starts, for messages; `files` reads what is not there yet.
  WireReader(std::string_view message, const char* file, OnnxFiles* files = nullptr)
      : rest_(message), file_(file), files_(files) {}

  // Moves to the next field; false at the end.
  bool next();
  std::uint64_t field() const { return field_; }
  bool is_list() const { return form_ == Form::Bytes; }  // a packed list, a string or a message

  // The value of the field, which must have been written as such.
  std::int64_t integer() const;
  double real() const;  // a 32-bit or 64-bit float
  std::string_view bytes() const;
  std::string_view place() const;  // the same, but the bytes may not be there yet
  WireReader message() const { return {place(), file_, files_}; }

  // Appends the field's values, one or a packed list of them. Beyond `most` it fails.
  void append_integers(std::vector<std::int64_t>& values, std::size_t most) const;
  void append_reals(std::vector<double>& values, std::size_t most) const;

  [[noreturn]] void fail(const char* what) const;

 private:
  enum class Form : std::uint8_t { Varint = 0, Eight = 1, Bytes = 2, Four = 5 };

  void load(std::string_view part) const;
  std::uint64_t varint();
  std::string_view take(std::uint64_t count);

  std::string_view rest_;
  const char* file_;
  OnnxFiles* files_;
  std::uint64_t field_ = 0;
  Form form_ = Form::Varint;
  std::uint64_t number_ = 0;  // of a varint or a fixed field
  std::string_view bytes_;
};

}  // namespace foretrain::importer
