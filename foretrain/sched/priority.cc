// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// Higher priority first, then first come; lower ones are stopped.
Policy priority(const PolicyOptions& /*options*/) {
  return {.decide = [](State& state) { share_by_rank(state); },
          .rank = [](const Active& active) { return -active.job.priority; },
          .stops_jobs = true};
}

}  // namespace foretrain::sched
