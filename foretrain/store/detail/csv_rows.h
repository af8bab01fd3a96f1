// SPDX-License-Identifier: Apache-2.0
// For the .cc files of this folder: CSV lines from rows and rows from CSV lines.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/csv.h"
#include "foretrain/store/exchange.h"

namespace foretrain::store {

// How much of all files, and of those in folders, has been read.
class Meter {
 public:
  Meter(const std::vector<std::filesystem::path>& paths, OnLines on_lines);
  void add_line(std::size_t bytes);

 private:
  OnLines on_lines_;
  std::size_t lines_ = 0;
  double bytes_ = 0;
  double all_bytes_ = 0;  // 0 where that is not known
};

constexpr const char* kStandardInput = "-";  // as a path

// A CSV file with named columns.
class Sheet {
 public:
  // Throws Error(Io) where it cannot be opened, BadInput where a column is there twice.
  Sheet(const std::filesystem::path& path, Meter& meter);

  bool has(std::string_view column) const;
  bool has_all(const std::vector<std::string>& columns) const;
  const std::vector<std::string>& columns() const { return columns_; }
  const std::string& file() const { return file_; }

  // The next line, or false. Throws BadInput for one that has more or fewer fields than the first.
  bool next();

  const std::string& cell(std::string_view column) const;  // throws BadInput where it is missing
  const std::vector<std::string>& cells() const { return cells_; }

  // Throw Error(BadInput) that names line and column.
  double number(std::string_view column) const;  // finite
  std::optional<double> optional_number(std::string_view column) const;
  std::int64_t integer(std::string_view column) const;         // 3 and 3.0
  std::vector<double> numbers(std::string_view column) const;  // with spaces between
  void read(const char* column, std::string& field) const { field = cell(column); }
  void read(const char* column, double& field) const { field = number(column); }
  void read(const char* column, std::int64_t& field) const { field = integer(column); }
  void read(const char* column, std::optional<double>& field) const {
    field = optional_number(column);
  }
  void read(const char* column, std::optional<std::int64_t>& field) const {
    field.reset();
    if (!cell(column).empty()) field = integer(column);
  }
  [[noreturn]] void fail(const std::string& what) const;  // about the current line

 private:
  double number_of(std::string_view text, std::string_view column) const;

  Meter& meter_;
  std::size_t counted_ = 0;  // bytes that the meter knows
  std::string file_;
  std::ifstream opened_;
  std::istream& in_;
  CsvReader reader_;
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;
};

std::string exact_text(double value);  // the shortest that reads back as the same

// Six significant digits, all of a whole number. What is read back has the same text again.
std::string rounded_text(double value);

}  // namespace foretrain::store
