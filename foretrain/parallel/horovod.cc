// SPDX-License-Identifier: Apache-2.0
// Horovod: all-reduces of fused tensors (tensor fusion), agreed upon once per Horovod cycle
// (HOROVOD_CYCLE_TIME).
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/reduce_buckets.h"
#include "foretrain/parallel/detail/strategies.h"
#include "foretrain/parallel/experts.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

// From the last gradient to the cycle in which all ranks have said that it is there: the largest of
// p phases that are equally likely, cycle p / (p + 1). Earlier buckets wait behind backward.
Seconds wait_of(int ranks, const comm::ExchangeCosts::Horovod& costs) {
  return Seconds{costs.cycle_s} * ranks / (ranks + 1);
}

}  // namespace

void add_horovod(graph::Graph& step, const Resolved& resolved) {
  if (resolved.framework->gradients_together) return add_all_reduce(step, resolved);
  const double bytes = resolved.exchange->horovod.fusion_bytes;
  add_buckets(step, graph::Kind::AllReduce, graph::make_buckets(step, {bytes, bytes}));
  sum_experts_apart(step, resolved);
}

ExchangePlan plan_horovod(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = reduce_buckets(step, resolved);
  if (!plan.exchanges.empty()) {
    plan.exchanges.back().time += wait_of(gradient_ranks(resolved), resolved.exchange->horovod);
  }
  return plan;
}

}  // namespace foretrain::parallel
