// SPDX-License-Identifier: Apache-2.0
// Files of measured operators.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/measured/operator_case.h"
#include "foretrain/measured/table.h"

namespace foretrain::measured {

// Whether the file is one of those that read_operators knows, by its columns.
bool has_operators(const std::vector<std::string>& columns);

// Every `stride`-th row of a table of NeuSight's (GEMMs, convolutions, or what is memory-bound),
// or of operators that `foretrain collect operators` timed (the store's table, docs/store.md).
// Throws Error(BadInput) naming the line, Io.
OperatorCases read_operators(Table& table, std::size_t stride = 1);

// The same of all such tables of `data`, whatever it is (open_tables.h). Throws BadInput where
// there is none.
OperatorCases read_operators(const std::filesystem::path& data, std::size_t stride = 1);

}  // namespace foretrain::measured
