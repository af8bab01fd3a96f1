// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace foretrain::measured {

// What a table of measured operators holds, by its columns: one of NeuSight's, or what `foretrain
// collect operators` timed.
enum class OperatorTable { None, Gemm, Convolution, MemoryBound, Collected };
OperatorTable operator_table(const std::vector<std::string>& columns);

}  // namespace foretrain::measured
