// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain::measured {

// One line of a file of measurements; columns[i] names cells[i].
struct Row {
  const std::vector<std::string>* columns = nullptr;
  std::vector<std::string> cells;
  std::size_t line = 0;
};

// The cell of a column; "" where there is no such column.
inline std::string_view cell(const Row& row, std::string_view column) {
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if ((*row.columns)[i] == column) return row.cells[i];
  }
  return {};
}

}  // namespace foretrain::measured
