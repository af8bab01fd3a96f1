// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/metrics.h"

#include <algorithm>
#include <cmath>
#include <vector>

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
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  if (sizes.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(sizes.begin(), middle)) / 2;
}

double bias(std::span<const double> errors) {
  if (errors.empty()) return 0;
  double sum = 0;
  for (const double error : errors) sum += error;
  return sum / static_cast<double>(errors.size());
}

}  // namespace foretrain::evaluate
