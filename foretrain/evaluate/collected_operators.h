// SPDX-License-Identifier: Apache-2.0
// What `foretrain collect operators` timed: the store's table of operators as CSV, docs/store.md.
#pragma once

#include "foretrain/evaluate/operator_file.h"
#include "foretrain/evaluate/row.h"

namespace foretrain::evaluate {

bool are_collected(const std::vector<std::string>& columns);

// One row; operators of a CPU run on the catalog's `cpu`. A gradient is timed as the nodes of the
// operator's backward pass: whatever has a gradient wants one, as in the benchmark. Throws
// Error(BadInput) naming `where`.
std::unique_ptr<OperatorCase> collected_case(const Row& row, const std::string& where);

// Every `stride`-th row. Throws Error(BadInput) naming the line, Io.
OperatorCases read_collected(const std::filesystem::path& path, std::size_t stride);

}  // namespace foretrain::evaluate
