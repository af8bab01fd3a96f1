// SPDX-License-Identifier: Apache-2.0
// Files of measured operators.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "foretrain/measured/operator_case.h"
#include "foretrain/measured/operator_table.h"
#include "foretrain/measured/table.h"

namespace foretrain::measured {

// Whether the table is one of those that read_operators knows.
inline bool has_operators(const std::vector<std::string>& columns) {
  return operator_table(columns) != OperatorTable::None;
}

// Every `stride`-th row of a table of NeuSight's (GEMMs, convolutions, or what is memory-bound),
// or of a store's operators (docs/store.md): what `foretrain collect operators` timed, and rows
// that came from such a table. Throws Error(BadInput) naming the line, Io.
OperatorCases read_operators(Table& table, std::size_t stride = 1);

// The same of all such tables of `data`, whatever it is (open_tables.h). Throws BadInput where
// there is none.
OperatorCases read_operators(const std::filesystem::path& data, std::size_t stride = 1);

// The same, apart by what the tables hold, with about `most` evenly chosen rows of each table of
// NeuSight's. Empty where there is no such table.
std::map<OperatorTable, OperatorCases> read_operator_tables(const std::filesystem::path& data,
                                                            std::size_t most);

}  // namespace foretrain::measured
