// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {

// First come, first served among those that fit: small jobs pass large ones, which may starve.
Policy backfill(const PolicyOptions& /*options*/) { return {.decide = start_what_fits}; }

}  // namespace foretrain::sched
