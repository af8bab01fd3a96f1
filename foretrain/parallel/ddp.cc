// SPDX-License-Identifier: Apache-2.0
// PyTorch's DistributedDataParallel: all-reduces of buckets, beside backward.
#include "foretrain/parallel/ddp.h"

#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/reduce_buckets.h"
#include "foretrain/parallel/detail/strategies.h"

namespace foretrain::parallel {

graph::BucketSizes ddp_buckets(const comm::ExchangeCosts& costs) {
  return {costs.ddp.first_bucket_bytes, costs.ddp.bucket_bytes};
}

void add_ddp(graph::Graph& step, const Resolved& resolved) {
  if (resolved.framework->gradients_together) return add_all_reduce(step, resolved);
  add_buckets(step, graph::Kind::AllReduce,
              graph::make_buckets(step, ddp_buckets(*resolved.exchange)));
}

ExchangePlan plan_ddp(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = reduce_buckets(step, resolved);
  // AdaptDL's own counts hold them.
  if (resolved.framework->statistics.hook.operators == 0) {
    plan.gradient_copies = resolved.exchange->ddp.copies;
  }
  return plan;
}

}  // namespace foretrain::parallel
