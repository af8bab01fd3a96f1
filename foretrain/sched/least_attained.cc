// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/levels.h"
#include "foretrain/sched/detail/policies.h"

namespace foretrain::sched {
namespace {

// Three queues with the limits of the authors' simulator unless others are given.
Policy tiresias(const PolicyOptions& options, bool device_time) {
  Levels levels{options.limits, {}, device_time};
  if (levels.limits.empty()) levels.limits = {3250, 7200};
  for (std::size_t level = 0; level <= levels.limits.size(); ++level) {
    levels.ranks.push_back(static_cast<double>(level));
  }
  return by_level(std::move(levels));
}

}  // namespace

// Least attained service in levels: a job falls when it has run for so long.
// Source: Gu et al., Tiresias, NSDI 2019.
Policy least_attained_time(const PolicyOptions& options) { return tiresias(options, false); }

// The same by attained time x devices (2D-LAS).
Policy least_attained_service(const PolicyOptions& options) { return tiresias(options, true); }

}  // namespace foretrain::sched
