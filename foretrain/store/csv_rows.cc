// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/detail/csv_rows.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::store {
namespace {

namespace fs = std::filesystem;

constexpr int kDigits = 6;
constexpr double kMostWhole = 9007199254740992;  // 2^53

bool is_whole(double value) { return value == std::floor(value) && std::abs(value) <= kMostWhole; }

}  // namespace

Meter::Meter(const std::vector<std::filesystem::path>& paths, OnLines on_lines)
    : on_lines_(std::move(on_lines)) {
  bool known = true;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      const std::uintmax_t bytes = fs::file_size(path, error);
      known = known && !error;
      all_bytes_ += static_cast<double>(bytes);
      continue;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
      if (entry.path().extension() != ".csv") continue;
      const std::uintmax_t bytes = entry.file_size(error);
      if (!error) all_bytes_ += static_cast<double>(bytes);
    }
  }
  if (!known) all_bytes_ = 0;
}

void Meter::add_line(std::size_t bytes) {
  ++lines_;
  bytes_ += static_cast<double>(bytes);
  std::optional<double> share;
  if (all_bytes_ > 0) share = std::min(1.0, bytes_ / all_bytes_);
  if (on_lines_) on_lines_(lines_, share);
}

Sheet::Sheet(const std::filesystem::path& path, Meter& meter)
    : meter_(meter),
      file_(path == kStandardInput ? "standard input" : path.filename().string()),
      opened_(path, std::ios::binary),
      in_(path == kStandardInput ? std::cin : opened_),
      reader_(in_, "file " + printable(file_)) {
  if (path != kStandardInput && (!opened_.is_open() || fs::is_directory(path))) {
    throw Error(ErrorKind::Io, "cannot read '" + printable(path.string(), 200) + "'");
  }
  reader_.next(columns_);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto here = columns_.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(columns_.begin(), here, *here) != here) {
      fail("column '" + printable(*here) + "' is there twice");
    }
  }
}

void Sheet::fail(const std::string& what) const {
  throw Error(ErrorKind::BadInput, "file " + printable(file_) + ", line " +
                                       std::to_string(std::max<std::size_t>(1, reader_.line())) +
                                       ": " + what);
}

bool Sheet::has(std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

bool Sheet::has_all(const std::vector<std::string>& columns) const {
  return std::all_of(columns.begin(), columns.end(),
                     [&](const std::string& column) { return has(column); });
}

bool Sheet::next() {
  if (!reader_.next(cells_)) return false;
  if (cells_.size() != columns_.size()) {
    fail(std::to_string(cells_.size()) + " fields where the first line has " +
         std::to_string(columns_.size()) + "; is the line cut off or a quote missing?");
  }
  meter_.add_line(reader_.bytes() - counted_);
  counted_ = reader_.bytes();
  return true;
}

const std::string& Sheet::cell(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) fail("no column '" + std::string(column) + "'");
  return cells_[static_cast<std::size_t>(found - columns_.begin())];
}

double Sheet::number_of(std::string_view text, std::string_view column) const {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    fail("'" + printable(text) + "' in column " + std::string(column) + " is no number");
  }
  return value;
}

double Sheet::number(std::string_view column) const { return number_of(cell(column), column); }

std::vector<double> Sheet::numbers(std::string_view column) const {
  std::vector<double> values;
  std::string_view rest = cell(column);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    values.push_back(number_of(rest.substr(0, end), column));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return values;
}

std::optional<double> Sheet::optional_number(std::string_view column) const {
  if (cell(column).empty()) return std::nullopt;
  return number(column);
}

std::int64_t Sheet::integer(std::string_view column) const {
  const double value = number(column);
  if (!is_whole(value)) {
    fail("'" + printable(cell(column)) + "' in column " + std::string(column) +
         " is no whole number");
  }
  return static_cast<std::int64_t>(value);
}

std::string exact_text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string rounded_text(double value) {
  if (is_whole(value)) return exact_text(value);
  std::array<char, 32> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                  std::chars_format::general, kDigits)
                        .ptr;
  double rounded = 0;
  std::from_chars(digits.data(), end, rounded);
  return is_whole(rounded) ? exact_text(rounded) : std::string(digits.data(), end);
}

}  // namespace foretrain::store
