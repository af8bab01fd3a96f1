// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/uncertainty.h"

#include <utility>

#include "foretrain/sched/detail/random.h"

namespace foretrain::sched {
namespace {

// Uniform in [0, 1), each job's own; `use` keeps different uses of one seed apart.
double draw(std::uint64_t seed, const Job& job, std::uint64_t use) {
  return Random(seed + use, static_cast<std::uint64_t>(job.id)).uniform();
}

}  // namespace

Durations with_error(Durations durations, double error, std::uint64_t seed) {
  return [durations = std::move(durations), error, seed](const Job& job, const Allocation& where) {
    Timing timing = durations(job, where);
    timing.predicted = timing.actual * (1 + error * (2 * draw(seed, job, 0) - 1));
    return timing;
  };
}

Durations drawn_from_interval(Durations durations, std::uint64_t seed) {
  return [durations = std::move(durations), seed](const Job& job, const Allocation& where) {
    Timing timing = durations(job, where);
    if (timing.low < timing.high) {
      timing.actual = timing.low + draw(seed, job, 1) * (timing.high - timing.low);
    }
    return timing;
  };
}

}  // namespace foretrain::sched
