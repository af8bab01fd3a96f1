// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/smooth_max.h"

#include <cmath>

namespace foretrain::cost {

SmoothMax::SmoothMax(double exponent) {
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const double ratio = static_cast<double>(i) / kIntervals;
    table_[i] = std::pow(1 + std::pow(ratio, exponent), 1 / exponent);
  }
}

}  // namespace foretrain::cost
