// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "foretrain/base/seconds.h"

namespace foretrain::resource {

// Number of windows in `time`, where a product such as 3 * 0.1 may lie just beside it.
inline double windows_in(Seconds time, Seconds window) {
  const double windows = time / window;
  const double nearest = std::round(windows);
  return std::abs(windows - nearest) <= 1e-9 * std::max(1.0, nearest) ? nearest : windows;
}

}  // namespace foretrain::resource
