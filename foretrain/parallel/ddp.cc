// SPDX-License-Identifier: Apache-2.0
// PyTorch's DistributedDataParallel: all-reduces of buckets, beside backward.
#include <algorithm>

#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/reduce_buckets.h"
#include "foretrain/parallel/detail/strategies.h"
#include "foretrain/parallel/experts.h"

namespace foretrain::parallel {
namespace {

graph::BucketSizes bucket_sizes(const Resolved& resolved) {
  const comm::ExchangeCosts::Ddp& costs = resolved.exchange->ddp;
  return {costs.first_bucket_bytes, costs.bucket_bytes};
}

}  // namespace

void add_ddp(graph::Graph& step, const Resolved& resolved) {
  if (resolved.framework->gradients_together) return add_all_reduce(step, resolved);
  add_buckets(step, graph::Kind::AllReduce, graph::make_buckets(step, bucket_sizes(resolved)));
  sum_experts_apart(step, resolved);
}

ExchangePlan plan_ddp(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = reduce_buckets(step, resolved);
  // AdaptDL's own counts hold them.
  if (resolved.framework->statistics.hook.operators == 0) {
    plan.gradient_copies = resolved.exchange->ddp.copies;
  }
  return plan;
}

// Filled in the reverse order of the parameters, as when DDP wraps the model; its all-reduces
// follow the order in which gradients are complete. What is compressed lies in one more, as large
// as the largest of them then is.
std::vector<double> ddp_flat_buffers(const graph::Bound& step, const Resolved& resolved) {
  const auto& gradients = step.graph->gradients;
  std::vector<double> bytes;
  bytes.reserve(gradients.size());
  for (auto pair = gradients.rbegin(); pair != gradients.rend(); ++pair) {
    bytes.push_back(step.bytes(pair->second));
  }
  std::vector<double> buffers;
  std::size_t next = 0;
  for (const std::size_t end : graph::bucket_ends(bytes, bucket_sizes(resolved))) {
    double& filled = buffers.emplace_back(0);
    for (; next < end; ++next) filled += bytes[next];
  }
  if (buffers.empty()) return buffers;
  const DType type = step.graph->tensor(gradients.front().second).type;
  const double share = compressed_share(type, resolved);
  if (share < 1) buffers.push_back(share * *std::max_element(buffers.begin(), buffers.end()));
  return buffers;
}

}  // namespace foretrain::parallel
