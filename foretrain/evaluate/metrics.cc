// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/detail/metrics.h"

#include <cmath>
#include <utility>
#include <vector>

#include "foretrain/base/median.h"

namespace foretrain::evaluate {

double mape(std::span<const double> errors) {
  if (errors.empty()) return 0;
  double sum = 0;
  for (const double error : errors) sum += std::abs(error);
  return sum / static_cast<double>(errors.size());
}

double median_ape(std::span<const double> errors) {
  if (errors.empty()) return 0;
  std::vector<double> sizes;
  sizes.reserve(errors.size());
  for (const double error : errors) sizes.push_back(std::abs(error));
  return median(std::move(sizes));
}

double bias(std::span<const double> errors) {
  if (errors.empty()) return 0;
  double sum = 0;
  for (const double error : errors) sum += error;
  return sum / static_cast<double>(errors.size());
}

}  // namespace foretrain::evaluate
