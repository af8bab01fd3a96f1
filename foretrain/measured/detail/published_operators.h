// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/measured/table.h"

namespace foretrain::measured {

// The rows of a store's table of operators by where they come from. What `foretrain collect
// operators` timed stays as it is. A file of NeuSight's, whose columns the store keeps as
// attributes, gets them back; rows of other files are left out, as those files are. Throws
// Error(BadInput) naming the line.
std::vector<Table> by_origin(Table& table);

}  // namespace foretrain::measured
