// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/collectives.h"

#include <array>

#include "foretrain/comm/all_gather.h"
#include "foretrain/comm/all_reduce.h"
#include "foretrain/comm/broadcast.h"
#include "foretrain/comm/reduce_scatter.h"
#include "foretrain/graph/op.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

using graph::Among;
using graph::Kind;

double gathered_bytes(const graph::Bound& step, const graph::Node& node, int ranks) {
  if (node.outputs.empty()) return bytes_of_node(step, node);
  double bytes = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const double element = bytes_of(step.graph->tensor(node.outputs[i]).type);
    bytes += ranks * step.count(node.inputs[i]) * element;
  }
  return bytes;
}

Traffic both_ways(double bytes) { return {bytes, bytes, 0, 0}; }

// Around a ring each rank passes on all but its own part; one such ring enters and leaves a node.
Exchange exchange_of(const graph::Bound& step, const graph::Node& node, const RankGroups& groups) {
  const comm::Path& path = groups.path;
  const double passed_on = (path.ranks - 1.0) / path.ranks;
  Exchange exchange;
  double sent = 0;
  if (node.kind == Kind::AllGather) {
    const double bytes = gathered_bytes(step, node, path.ranks);
    exchange.time = comm::all_gather(bytes, path.ranks, path.flat);
    sent = passed_on * bytes;
  } else if (node.kind == Kind::ReduceScatter) {
    const double bytes = bytes_of_node(step, node);
    exchange.time = comm::reduce_scatter(bytes, path.ranks, path.flat);
    sent = passed_on * bytes;
  } else if (node.kind == Kind::Broadcast) {
    const double bytes = bytes_of_node(step, node);
    exchange.time = comm::broadcast(bytes, path.ranks, path.flat);
    sent = bytes;
  } else {
    const double bytes = bytes_of_node(step, node);
    const comm::AllReduce reduced = comm::all_reduce(bytes, path);
    exchange.time = reduced.time;
    const double ranks = reduced.algorithm == "hierarchical" ? path.nodes : path.ranks;
    sent = 2 * (ranks - 1) / ranks * bytes;
  }
  if (path.nodes > 1) exchange.traffic = both_ways(groups.groups_on_node * sent);
  return exchange;
}

}  // namespace

ExchangePlan plan_collectives(const graph::Bound& step, const Resolved& resolved) {
  const comm::ExchangeCosts::Sharded& costs = resolved.exchange->sharded;
  const std::array groups{rank_groups(Among::All, resolved),
                          rank_groups(Among::ShardGroup, resolved),
                          rank_groups(Among::Replicas, resolved)};
  ExchangePlan plan;
  plan.kernel_slowdown = costs.kernel_slowdown_share;
  for (const graph::Node& node : step.graph->nodes) {
    if (!graph::is_communication(node) || graph::is_transfer(node)) continue;
    const auto among =
        static_cast<std::size_t>(node.attributes.number(graph::Attr::Among, 0)) % groups.size();
    Exchange exchange = exchange_of(step, node, groups[among]);
    exchange.host = Seconds{costs.collective_host_s};
    plan.exchanges.push_back(exchange);
  }
  return plan;
}

}  // namespace foretrain::parallel
