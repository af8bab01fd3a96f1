// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace foretrain::tune {

// A positive number that may be varied between two bounds.
struct Variable {
  double start = 1;
  double least = 0;
  double most = 0;
};

// Values of the variables that make `loss` small, by a local search without derivatives over
// their logarithms (Rowan's Subplex as NLopt has it). Deterministic: the same calls give the same
// result. Never worse than the start.
std::vector<double> minimise(const std::vector<Variable>& variables, int evaluations,
                             const std::function<double(const std::vector<double>&)>& loss);

}  // namespace foretrain::tune
