// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::resource {

// A constant level between two times.
struct Level {
  Seconds start{0};
  Seconds end{0};
  double amount = 0;
};

// Averages levels (overlapping ones add up) over windows that cover [0, end). The last window
// is left out when it is not whole. Parts of levels outside [0, end) do not count. Takes time
// linear in levels and windows.
std::vector<double> sample_levels(const std::vector<Level>& levels, Seconds end, Seconds window);

}  // namespace foretrain::resource
