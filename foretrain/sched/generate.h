// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "foretrain/sched/simulate.h"

namespace foretrain::sched {

// A made-up workload. Arrivals are a Poisson process; the device counts are 1 to 32, mostly 1, as
// in clusters that were published (Philly: Jeon et al., ATC 2019); durations are lognormal.
struct Workload {
  std::int64_t jobs = 1000;
  std::uint64_t seed = 0;
  double load = 0.9;    // device time that is asked for, of what the cluster has
  Seconds median{900};  // of the durations
  double sigma = 1.5;   // of their logarithm
  int users = 8;
  bool models = false;  // jobs have requests instead of durations
};

// Reads "generate:jobs=1000000,load=0.8,seed=3": names as above. Throws Error(BadInput).
Workload parse_workload(std::string_view text);
bool names_workload(std::string_view text);  // begins with "generate:"

// One job after the other, in constant memory. No job asks for more than the largest pool of
// `cluster` has; `load` counts all devices.
JobSource generate(const Workload& workload, const hw::Cluster& cluster);

}  // namespace foretrain::sched
