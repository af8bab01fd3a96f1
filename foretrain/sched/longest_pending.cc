// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/policies.h"
#include "foretrain/sched/detail/share.h"

namespace foretrain::sched {
namespace {

void decide(State& state) {
  Candidates candidates(state.waiting());
  while (const std::optional<int> slot = candidates.next()) {
    candidates.take();
    if (!state.start(*slot)) return;
    if (candidates.next()) candidates.take();
  }
}

}  // namespace

// The Tiresias simulator's "longest pending first": first come, first served, but whenever a job
// starts, the one behind it is passed over until something happens again.
Policy longest_pending(const PolicyOptions& /*options*/) { return {.decide = decide}; }

}  // namespace foretrain::sched
