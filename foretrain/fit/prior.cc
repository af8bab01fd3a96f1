// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/prior.h"

#include <cmath>

namespace foretrain::fit {

double distance(const std::vector<tune::Variable>& variables, const std::vector<double>& values,
                double weight) {
  constexpr double kUsual = 0.3;  // logarithm
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double moved = std::log(values[i] / variables[i].start) / kUsual;
    sum += moved * moved;
  }
  return weight * sum / static_cast<double>(values.size());
}

double rounded(double value) {
  if (value <= 0) return value;
  const double scale = std::pow(10, 3 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

}  // namespace foretrain::fit
