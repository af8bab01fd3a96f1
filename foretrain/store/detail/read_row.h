// SPDX-License-Identifier: Apache-2.0
// For the .cc files of this folder: rows of our own files and of training measurements.
#pragma once

#include "foretrain/store/columns.h"
#include "foretrain/store/detail/csv_rows.h"

namespace foretrain::store {

// Throw Error(BadInput), naming file and line, for a row that cannot be.
void check_row(const Machine& row, const Sheet& sheet);
void check_row(const Campaign& row, const Sheet& sheet);
void check_row(const Run& row, const Sheet& sheet);
void check_row(const Samples& row, const Sheet& sheet);
void check_row(const Metric& row, const Sheet& sheet);
void check_row(const Operator& row, const Sheet& sheet);
void check_row(const Collective& row, const Sheet& sheet);
void check_row(const Training& row, const Sheet& sheet);

// Nothing that we measure is negative; what others publish may be.
template <typename Row, typename Field>
void check_sign(const char* column, const Field& field, const Sheet& sheet) {
  if constexpr (!std::same_as<Row, Training> && !std::same_as<Field, std::string>) {
    if (std::optional<double>(field).value_or(0) < 0) {
      sheet.fail(std::string("the number in column ") + column + " is negative");
    }
  }
}

// Whether exports of earlier versions lack the column.
inline bool is_newer(std::string_view column) {
  return column == "request" || column == "burst_share";
}

// The row of the current line.
template <typename Row>
Row read_row(const Sheet& sheet) {
  Row row;
  each_column(row, [&](const char* column, auto& field) {
    if (is_newer(column) && !sheet.has(column)) return;
    sheet.read(column, field);
    check_sign<Row>(column, field, sheet);
  });
  check_row(row, sheet);
  return row;
}

}  // namespace foretrain::store
