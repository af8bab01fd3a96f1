// SPDX-License-Identifier: Apache-2.0
// For the .cc files of this folder: files of operators and collectives that others have published.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/store/detail/csv_rows.h"
#include "foretrain/store/rows.h"

namespace foretrain::store {

struct TimeColumn {
  const char* column;
  double seconds;  // per unit of the column
  const char* direction;
};

// How the lines of a file become operators. Columns that are not named here are attributes.
struct OperatorFormat {
  std::vector<std::string> signature;  // columns that tell it apart
  const char* machine;                 // column
  const char* kind;                    // column, or "=" and the kind itself
  const char* dtype;
  const char* spread;  // column, in the unit of the first time; "" where there is none
  std::vector<TimeColumn> times;
};

const OperatorFormat* operator_format(const Sheet& sheet);

// The operators of the current line: one per time that is there.
std::vector<Operator> operators_of(const Sheet& sheet, const OperatorFormat& format);

bool is_collective_file(const Sheet& sheet);
Collective collective_of(const Sheet& sheet);

}  // namespace foretrain::store
