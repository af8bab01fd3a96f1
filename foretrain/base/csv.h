// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace foretrain {

// Reads comma-separated values as RFC 4180 defines them, record by record, in bounded memory:
// quoted fields, doubled quotes, line breaks inside quotes, LF or CRLF. A byte order mark and
// empty lines are skipped.
class CsvReader {
 public:
  // `name` begins every message ("file x.csv"). Keeps a reference to `in`.
  CsvReader(std::istream& in, std::string name);

  // The next record, or false at the end. Throws Error(BadInput) naming the line for a quote
  // that is never closed or stands where none may, a NUL byte and a field beyond 1 MiB; Error(Io)
  // where the stream breaks off.
  bool next(std::vector<std::string>& fields);

  std::size_t line() const { return line_; }    // where the last record begins, from 1
  std::size_t bytes() const { return bytes_; }  // read so far

 private:
  int get();   // the next byte, or kEnd
  int peek();  // the same, which stays
  bool fill();
  void read_quoted(std::string& field);
  int read_plain(std::string& field);
  void put(std::string& field, int byte) const;
  [[noreturn]] void fail(std::size_t line, const std::string& what) const;

  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t place_ = 0;
  std::size_t filled_ = 0;
  std::size_t bytes_ = 0;
  std::size_t line_ = 0;
  std::size_t now_ = 1;  // the line of the next byte
};

// A field for a CSV file, in quotes where it needs them.
std::string csv_field(const std::string& text);
// The shortest text that reads back as the same number.
std::string csv_field(double value);
template <std::integral T>
std::string csv_field(T value) {
  return std::to_string(value);
}

// The fields as one line, with its end.
template <typename First, typename... Rest>
std::string csv_line(const First& first, const Rest&... rest) {
  std::string line = csv_field(first);
  ((line += ',', line += csv_field(rest)), ...);
  return line + '\n';
}

}  // namespace foretrain
