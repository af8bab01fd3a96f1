// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foretrain/sched/state.h"

namespace foretrain::sched {

// Policies are told exact durations times 1 + error u, where u is uniform in [-1, 1) and each
// job's own, drawn from the seed and its number. At 1 a prediction is between 0 and twice the
// truth.
Durations with_error(Durations durations, double error, std::uint64_t seed);

// What happens is drawn uniformly from the interval of the prediction, once per job: the same
// place of the interval wherever it runs. A job without an interval stays as it is.
Durations drawn_from_interval(Durations durations, std::uint64_t seed);

}  // namespace foretrain::sched
