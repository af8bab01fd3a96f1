// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// Jobs with the fewest devices run; larger ones are stopped for them.
Policy fewest_devices(const PolicyOptions& /*options*/) {
  return {.decide = [](State& state) { share_by_rank(state); },
          .rank = [](const Active& active) { return static_cast<double>(active.job.devices); },
          .stops_jobs = true};
}

}  // namespace foretrain::sched
