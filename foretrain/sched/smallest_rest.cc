// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// Smallest remaining device time (time x devices) first, by prediction; larger jobs are stopped.
Policy smallest_rest(const PolicyOptions& /*options*/) {
  return {
      .decide = [](State& state) { share_by_rank(state); },
      .rank =
          [](const Active& active) { return predicted_rest(active).count() * active.job.devices; },
      .slope = [](const Active& active) { return static_cast<double>(active.job.devices); },
      .stops_jobs = true};
}

}  // namespace foretrain::sched
