// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "foretrain/sched/policy.h"
#include "foretrain/sched/state.h"

namespace foretrain::sched {

// A preemptive policy that ranks jobs by how much service they have had, in steps.
struct Levels {
  std::vector<double> limits;  // attained service at which a job comes to the next level, rising
  std::vector<double> ranks;   // of each level, one more than limits; less goes first
  bool device_time = true;     // service is time x devices; false: time
};

// Inside a level first come, first served: running jobs are not stopped for waiting ones, one
// that was stopped waits in front, one that has just come waits behind.
Policy by_level(Levels levels);

}  // namespace foretrain::sched
