// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "foretrain/fit/detail/minimise.h"

namespace foretrain::fit {

using ResidualFunction = std::function<std::vector<double>(const std::vector<double>&)>;

// Values of the variables that make the sum of the residuals' squares small: at most `rounds`
// steps over their logarithms, each with derivatives from one call per variable. Far fewer calls
// than `minimise` where there are dozens of variables. There must be as many residuals in every
// call. Deterministic; never worse than the start.
// Source: Levenberg 1944, Marquardt 1963; a variable at its bound that wants beyond it rests.
std::vector<double> least_squares(const std::vector<Variable>& variables, int rounds,
                                  const ResidualFunction& residuals);

}  // namespace foretrain::fit
