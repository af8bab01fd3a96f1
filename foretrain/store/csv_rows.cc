// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/csv_rows.h"

#include <algorithm>
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::store {

Sheet::Sheet(const std::filesystem::path& path)
    : file_(path.filename().string()),
      in_(path, std::ios::binary),
      reader_(in_, "file " + printable(file_)) {
  if (!in_.is_open() || std::filesystem::is_directory(path)) {
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
  return true;
}

const std::string& Sheet::cell(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) fail("no column '" + std::string(column) + "'");
  return cells_[static_cast<std::size_t>(found - columns_.begin())];
}

double Sheet::number(std::string_view column) const {
  const std::string& text = cell(column);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    fail("'" + printable(text) + "' in column " + std::string(column) + " is no number");
  }
  return value;
}

std::optional<double> Sheet::optional_number(std::string_view column) const {
  if (cell(column).empty()) return std::nullopt;
  return number(column);
}

std::int64_t Sheet::integer(std::string_view column) const {
  constexpr double kMost = 9007199254740992;  // 2^53
  const double value = number(column);
  if (value != std::floor(value) || std::abs(value) > kMost) {
    fail("'" + printable(cell(column)) + "' in column " + std::string(column) +
         " is no whole number");
  }
  return static_cast<std::int64_t>(value);
}

std::string number_text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

}  // namespace foretrain::store
