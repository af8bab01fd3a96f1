// SPDX-License-Identifier: Apache-2.0
// Where the time of a step goes, read off its timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// The class of workers whose kernels take longest: the one that the step waits for.
const WorkerClass& slowest_class(const Stages& stages);

// Its device.
const hw::Device& slowest_device(const Stages& stages, const Resolved& resolved);

// Where the step's time goes on the slowest worker.
Breakdown break_down(const Stages& stages);

// Of that the time between two moments, in which the slowest worker runs kernels or waits.
Breakdown break_down_between(const Stages& stages, Seconds from, Seconds to);

// Forward, backward and update on the slowest worker.
Phases split_phases(const Stages& stages);

// All communication, hidden or not; at least what keeps saturated servers busy.
Seconds communication_time(const Stages& stages);

// Of each operator on the slowest worker, in all passes of a step; an update runs once.
std::vector<Seconds> operator_times(const Stages& stages, std::int64_t passes);

// Those that take longest.
std::vector<OperatorReport> top_operators(const Stages& stages, std::int64_t passes,
                                          std::size_t most);

}  // namespace foretrain::operators
