// SPDX-License-Identifier: Apache-2.0
// What `foretrain collect operators` timed: the store's table of operators as CSV, docs/store.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "foretrain/measured/operator_case.h"
#include "foretrain/measured/row.h"
#include "foretrain/measured/table.h"

namespace foretrain::measured {

bool are_collected(const std::vector<std::string>& columns);

// The device that a row was timed on, by the store's name of its machine: "lab-1f2e" is a core of
// that machine, "lab-1f2e@NVIDIA A100-SXM4-80GB" its GPU; anything else names the device itself.
std::string collected_device(std::string_view machine);

// One row. A gradient is timed as the nodes of the
// operator's backward pass: whatever has a gradient wants one, as in the benchmark. Throws
// Error(BadInput) naming `where`.
std::unique_ptr<OperatorCase> collected_case(const Row& row, const std::string& where);

// Every `stride`-th row. Throws Error(BadInput) naming the line, Io.
OperatorCases read_collected(Table& table, std::size_t stride);

}  // namespace foretrain::measured
