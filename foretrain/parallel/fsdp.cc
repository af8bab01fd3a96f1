// SPDX-License-Identifier: Apache-2.0
// PyTorch's FSDP and ZeRO-3: parameters are gathered for each block and let go after it.
#include "foretrain/parallel/detail/collectives.h"
#include "foretrain/parallel/detail/strategies.h"
#include "foretrain/parallel/detail/units.h"

namespace foretrain::parallel {

void add_fsdp(graph::Graph& step, const Resolved& resolved) {
  shard_units(step, resolved, Reshard::AfterForward);
}

ExchangePlan plan_fsdp(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = plan_collectives(step, resolved);
  plan.assumptions.push_back("parameters are gathered by block, one block ahead");
  return plan;
}

}  // namespace foretrain::parallel
