// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// Earliest deadline first; jobs without one come last, and all later ones are stopped.
Policy deadline(const PolicyOptions& /*options*/) {
  return {.decide = [](State& state) { share_by_rank(state); },
          .rank =
              [](const Active& active) {
                if (!active.job.deadline) return std::numeric_limits<double>::max();
                return (active.job.submit + *active.job.deadline).count();
              },
          .stops_jobs = true};
}

}  // namespace foretrain::sched
