// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/detail/cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::measured {

bool has_columns(const std::vector<std::string>& columns,
                 std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(), [&](const char* name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

std::optional<double> optional_number(const Row& row, std::string_view column,
                                      const std::string& where) {
  const std::string_view text = cell(row, column);
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || !(value >= 0) ||
      !std::isfinite(value)) {
    throw Error(ErrorKind::BadInput,
                where + ": " + std::string(column) + " is not a number from 0 on");
  }
  return value;
}

double Cells::number(const char* column) const {
  const std::string_view text = cell(row_, column);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() ||
      !std::isfinite(value)) {
    fail(std::string(column) + " '" + printable(text) + "' is not a number");
  }
  return value;
}

std::int64_t Cells::size(const char* column) const {
  const double value = number(column);
  if (value < 1 || value > 1e9 || value != std::floor(value)) {
    fail(std::string(column) + " is not a size from 1 to 1e9");
  }
  return static_cast<std::int64_t>(value);
}

void Cells::fail(const std::string& what) const {
  throw Error(ErrorKind::BadInput, file_ + ": line " + std::to_string(row_.line) + ": " + what);
}

}  // namespace foretrain::measured
