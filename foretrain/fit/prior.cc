// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/prior.h"

#include <cmath>

namespace foretrain::fit {

double distance(const std::vector<Variable>& variables, const std::vector<double>& values,
                double weight) {
  constexpr double kUsual = 0.3;  // logarithm
  const double sum = squared_moves(variables, values, kUsual);
  return weight * sum / static_cast<double>(values.size());
}

double rounded(double value) {
  if (value <= 0) return value;
  const double scale = std::pow(10, 3 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

}  // namespace foretrain::fit
