// SPDX-License-Identifier: Apache-2.0
// The policies that come with the simulator, each in a file of its own name.
#pragma once

#include "foretrain/sched/policy.h"

namespace foretrain::sched {

Policy fifo(const PolicyOptions& options);
Policy backfill(const PolicyOptions& options);
Policy longest_pending(const PolicyOptions& options);
Policy fewest_devices(const PolicyOptions& options);
Policy shortest_job(const PolicyOptions& options);
Policy shortest_rest(const PolicyOptions& options);
Policy smallest_rest(const PolicyOptions& options);
Policy priority(const PolicyOptions& options);
Policy deadline(const PolicyOptions& options);
Policy least_attained_time(const PolicyOptions& options);
Policy least_attained_service(const PolicyOptions& options);
Policy gittins(const PolicyOptions& options);
Policy easy(const PolicyOptions& options);
Policy fair_share(const PolicyOptions& options);
Policy max_min_fairness(const PolicyOptions& options);

}  // namespace foretrain::sched
