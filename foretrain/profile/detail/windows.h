// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::profile {

// Readings of a counter, or of a level, at the times when they were taken.
struct Readings {
  std::vector<double> time_s{};  // rising
  std::vector<double> value{};
};

// Mean rate in each of `count` windows from 0 on, of a counter taken to grow evenly between two
// readings: the growth over all windows is kept. NaN where there are no readings around.
std::vector<double> rates(const Readings& counter, Seconds window, std::size_t count);

// The same counter where it can grow by at most `most_per_s`: what is more at a reading was grown
// before it, while the counter was not brought up to date. So a CPU that the machine takes away for
// a while shows a thread's clock standing still, then all of its time at once.
Readings caught_up(Readings counter, double most_per_s);

// The last level read at or before the end of each window; NaN before the first.
std::vector<double> levels(const Readings& level, Seconds window, std::size_t count);

}  // namespace foretrain::profile
