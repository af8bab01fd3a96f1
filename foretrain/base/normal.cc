// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/normal.h"

#include <cassert>
#include <cmath>

namespace foretrain {
namespace {

double search(double low, double high, double share) {
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_share(middle) < share ? low : high) = middle;
  }
  return low;
}

}  // namespace

double normal_share(double deviations) { return std::erfc(-deviations / std::sqrt(2.0)) / 2; }

double normal_quantile(double share) {
  assert(share > 0 && share < 1);
  return search(-10, 10, share);
}

double expected_largest(double count) {
  assert(count >= 1);
  return search(0, 10, (count - 0.375) / (count + 0.25));
}

}  // namespace foretrain
