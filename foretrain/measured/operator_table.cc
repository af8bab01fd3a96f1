// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/operator_table.h"

#include "foretrain/measured/collected_operators.h"
#include "foretrain/measured/detail/cells.h"

namespace foretrain::measured {

OperatorTable operator_table(const std::vector<std::string>& columns) {
  if (are_collected(columns)) return OperatorTable::Collected;
  if (!has_columns(columns, {"split", "device", "op", "latency_ms"})) return OperatorTable::None;
  if (has_columns(columns, {"in_channels", "out_channels", "kernel"})) {
    return OperatorTable::Convolution;
  }
  if (has_columns(columns, {"B", "H"})) return OperatorTable::MemoryBound;
  if (has_columns(columns, {"B", "M", "N", "K"})) return OperatorTable::Gemm;
  return OperatorTable::None;
}

}  // namespace foretrain::measured
