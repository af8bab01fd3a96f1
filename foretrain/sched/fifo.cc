// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// First come, first served; while the first has no place, all wait.
Policy fifo(const PolicyOptions& /*options*/) { return {.decide = start_in_order}; }

}  // namespace foretrain::sched
