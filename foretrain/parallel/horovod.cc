// SPDX-License-Identifier: Apache-2.0
// Horovod: all-reduces of fused tensors, agreed upon in cycles.
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/reduce_buckets.h"
#include "foretrain/parallel/detail/strategies.h"

namespace foretrain::parallel {
namespace {

// Its tensor fusion, and the cycles in which each rank says what it has ready. Source: its
// documentation, HOROVOD_FUSION_THRESHOLD and HOROVOD_CYCLE_TIME, before version 0.21.
constexpr double kBucketBytes = 64 * 1024 * 1024;
constexpr Seconds kCycle{5e-3};

// From the last gradient to the cycle in which all ranks have said that it is there: the largest of
// p phases that are equally likely, cycle p / (p + 1). Earlier buckets wait behind backward.
Seconds wait_of(int ranks) { return kCycle * ranks / (ranks + 1); }

}  // namespace

void add_horovod(graph::Graph& step, const Resolved& resolved) {
  if (resolved.framework->gradients_together) return add_all_reduce(step, resolved);
  add_buckets(step, graph::Kind::AllReduce,
              graph::make_buckets(step, {kBucketBytes, kBucketBytes}));
}

ExchangePlan plan_horovod(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = reduce_buckets(step, resolved);
  if (!plan.exchanges.empty()) plan.exchanges.back().time += wait_of(resolved.workers);
  return plan;
}

}  // namespace foretrain::parallel
