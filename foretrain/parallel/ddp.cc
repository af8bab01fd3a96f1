// SPDX-License-Identifier: Apache-2.0
// PyTorch's DistributedDataParallel: all-reduces of buckets, beside backward.
#include "foretrain/parallel/ddp.h"

#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/reduce_buckets.h"
#include "foretrain/parallel/detail/strategies.h"

namespace foretrain::parallel {
namespace {

// It copies each gradient into its bucket and the sum back. Source: its reducer, with
// gradient_as_bucket_view=False (the default). AdaptDL's own counts hold them.
constexpr double kCopies = 2;

}  // namespace

void add_ddp(graph::Graph& step, const Resolved& resolved) {
  if (resolved.framework->gradients_together) return add_all_reduce(step, resolved);
  add_buckets(step, graph::Kind::AllReduce, graph::make_buckets(step, kDdpBuckets));
}

ExchangePlan plan_ddp(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = reduce_buckets(step, resolved);
  if (resolved.framework->statistics.hook.operators == 0) plan.gradient_copies = kCopies;
  return plan;
}

}  // namespace foretrain::parallel
