// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::profile {

// The time after which equally spaced samples repeat themselves: the shortest lag at which their
// autocorrelation has a peak of at least 0.5 and of nine tenths of the highest peak, refined by a
// parabola through the peak, and then by the peak at the largest whole multiple still inside a
// third of the recording. Absent where nothing repeats: a flat, short or irregular recording. What
// is not finite counts as the mean.
std::optional<Seconds> find_period(const std::vector<double>& samples, Seconds window);

}  // namespace foretrain::profile
