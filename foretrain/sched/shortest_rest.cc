// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// Shortest remaining time first, by prediction; longer jobs are stopped.
Policy shortest_rest(const PolicyOptions& /*options*/) {
  return {.decide = [](State& state) { share_by_rank(state); },
          .rank = [](const Active& active) { return predicted_rest(active).count(); },
          .slope = [](const Active&) { return 1.0; },
          .stops_jobs = true};
}

}  // namespace foretrain::sched
