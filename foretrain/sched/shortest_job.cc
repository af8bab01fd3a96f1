// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// The job with the shortest predicted duration that fits goes first; none is stopped.
Policy shortest_job(const PolicyOptions& /*options*/) {
  return {.decide = start_what_fits,
          .rank = [](const Active& active) { return predicted_rest(active).count(); }};
}

}  // namespace foretrain::sched
