// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace foretrain::fit {

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

// The same for values that lie where `places` point to: they are set before each call of `loss`,
// and in the end to what was found.
void minimise_in_place(const std::vector<double*>& places, const std::vector<Variable>& variables,
                       int evaluations,
                       const std::function<double(const std::vector<double>&)>& loss);

// The sum of (ln(value / start) / usual)²: how far the values have moved, as a normal prior of
// their logarithms counts it.
double squared_moves(const std::vector<Variable>& variables, const std::vector<double>& values,
                     double usual = 1);

}  // namespace foretrain::fit
