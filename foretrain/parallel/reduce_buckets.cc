// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/reduce_buckets.h"

#include "foretrain/comm/all_reduce.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {

ExchangePlan reduce_buckets(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan;
  plan.per_gradient = Seconds{resolved.exchange->cpu.ddp_gradient_s};
  plan.per_gradient_byte_s = resolved.exchange->cpu.ddp_byte_s;
  const RankGroups groups = rank_groups(graph::Among::All, resolved);
  const comm::Path& path = groups.path;
  std::string_view algorithm = "none";
  for (const graph::Node& node : step.graph->nodes) {
    if (node.kind != graph::Kind::AllReduce || !exchanges_parameters(node)) continue;
    const comm::AllReduce all_reduce = comm::all_reduce(bytes_of_node(step, node), path);
    plan.exchanges.push_back({all_reduce.time, {}});
    algorithm = all_reduce.algorithm;
  }
  if (plan.exchanges.empty()) return plan;
  plan.assumptions.push_back("gradients are summed by " + std::string(algorithm) + " all-reduce");
  if (path.nodes == 1) return plan;
  const double ranks = algorithm == "hierarchical" ? path.nodes : path.ranks;
  const double sent = groups.groups_on_node * 2 * (ranks - 1) / ranks;
  const Traffic per_byte{sent, sent, 0, 0};
  std::size_t next = 0;
  for (const graph::Node& node : step.graph->nodes) {
    if (node.kind != graph::Kind::AllReduce || !exchanges_parameters(node)) continue;
    plan.exchanges[next++].traffic = scaled(per_byte, bytes_of_node(step, node));
  }
  return plan;
}

}  // namespace foretrain::parallel
