// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/measured/row.h"

namespace foretrain::measured {

bool has_columns(const std::vector<std::string>& columns, std::initializer_list<const char*> names);

// The number of a cell, from 0 on; absent where the cell is empty. Throws Error(BadInput) naming
// `where`.
std::optional<double> optional_number(const Row& row, std::string_view column,
                                      const std::string& where);

// The cells of a row of a file of operators or collectives. Whatever is not what it must be is an
// Error(BadInput) that names the file and the line.
class Cells {
 public:
  Cells(const Row& row, const std::string& file) : row_(row), file_(file) {}

  double number(const char* column) const;
  std::int64_t size(const char* column) const;  // a whole number from 1 to 1e9
  std::string text(const char* column) const { return std::string(cell(row_, column)); }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  const Row& row_;
  const std::string& file_;
};

}  // namespace foretrain::measured
