// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/normal.h"

#include <cassert>
#include <cmath>

namespace foretrain {

double expected_largest(double count) {
  assert(count >= 1);
  const double share = (count - 0.375) / (count + 0.25);
  double low = 0;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return low;
}

}  // namespace foretrain
