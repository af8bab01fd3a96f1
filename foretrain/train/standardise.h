// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/learn/regressor.h"

namespace foretrain::train {

// Mean and deviation of every column; 1 for one that does not vary. Needs a row.
learn::Standardised standard_of(const std::vector<std::vector<double>>& rows);

std::vector<std::vector<double>> standardise(const std::vector<std::vector<double>>& rows,
                                             const learn::Standardised& by);

}  // namespace foretrain::train
