// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/fit/detail/minimise.h"

namespace foretrain::fit {

// What keeps constants that the rows do not decide near their start: where all of them move by a
// factor of 1.35 it costs `weight`, in the units of a mean absolute logarithm.
double distance(const std::vector<Variable>& variables, const std::vector<double>& values,
                double weight);

// To four digits, which are more than the measurements know and make a file that people can
// compare.
double rounded(double value);

}  // namespace foretrain::fit
