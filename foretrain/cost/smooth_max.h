// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace foretrain::cost {

// (a^p + b^p)^(1/p): the time of two things that overlap, but not perfectly. Tabulated over
// min(a, b) / max(a, b), because the power functions would be most of an operator's cost.
// Straight lines between 257 points of a convex function: monotonic in both arguments, and
// less than 0.01 % off.
class SmoothMax {
 public:
  explicit SmoothMax(double exponent);

  double operator()(double a, double b) const {
    const double high = std::max(a, b);
    if (!(high > 0)) return 0;
    const double position = std::min(a, b) / high * kIntervals;
    const auto index = std::min(static_cast<std::size_t>(position), kIntervals - 1);
    const double rest = position - static_cast<double>(index);
    return high * (table_[index] + rest * (table_[index + 1] - table_[index]));
  }

 private:
  static constexpr std::size_t kIntervals = 256;
  std::array<double, kIntervals + 1> table_{};
};

}  // namespace foretrain::cost
