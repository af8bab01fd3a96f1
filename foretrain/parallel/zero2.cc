// SPDX-License-Identifier: Apache-2.0
// ZeRO-2: ranks share gradients and optimizer states. In PyTorch this is FSDP that keeps gathered
// parameters until backward (SHARD_GRAD_OP); elsewhere flat buckets of gradients are scattered.
#include "foretrain/parallel/detail/collectives.h"
#include "foretrain/parallel/detail/flat.h"
#include "foretrain/parallel/detail/strategies.h"
#include "foretrain/parallel/detail/units.h"

namespace foretrain::parallel {

void add_zero2(graph::Graph& step, const Resolved& resolved) {
  if (resolved.framework->flat_shards) {
    shard_flat(step, resolved, FlatGradients::Shards);
  } else {
    shard_units(step, resolved, Reshard::AfterBackward);
  }
}

ExchangePlan plan_zero2(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = plan_collectives(step, resolved);
  plan.assumptions.push_back(resolved.framework->flat_shards
                                 ? "each rank updates its part of flat buckets of gradients"
                                 : "parameters are gathered by block and kept until backward");
  return plan;
}

std::vector<double> zero2_flat_buffers(const graph::Bound& step, const Resolved& resolved) {
  if (!resolved.framework->flat_shards) return {};
  return flat_shard_buffers(step, resolved);
}

}  // namespace foretrain::parallel
