// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/collectives.h"

#include <algorithm>
#include <array>
#include <optional>

#include "foretrain/comm/all_gather.h"
#include "foretrain/comm/all_reduce.h"
#include "foretrain/comm/all_to_all.h"
#include "foretrain/comm/broadcast.h"
#include "foretrain/comm/point_to_point.h"
#include "foretrain/comm/reduce_scatter.h"
#include "foretrain/graph/op.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

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

// From a rank of a ring to the next one; all send at once, so that groups beside each other share
// the NICs of their nodes.
comm::Link neighbour_link(const comm::Path& path) {
  comm::Link link = path.pair;
  if (path.nodes > 1) link.bytes_per_s = std::min(link.bytes_per_s, path.across.bytes_per_s);
  return link;
}

// Around a ring each rank passes on all but its own part; one such ring enters and leaves a node.
Exchange exchange_over(const graph::Bound& step, const graph::Node& node,
                       const RankGroups& groups) {
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
  } else if (node.kind == Kind::AllToAll) {
    // The busiest rank has more than others where experts are uneven.
    const double bytes = std::max(bytes_of_node(step, node), step.bytes(node.outputs.front()));
    exchange.time = comm::all_to_all(bytes, path);
    const double leaving = static_cast<double>(path.ranks - path.most_devices) / path.ranks;
    sent = path.most_devices * leaving * bytes;
  } else if (node.kind == Kind::CollectivePermute) {
    const double bytes = bytes_of_node(step, node);
    exchange.time = comm::point_to_point(bytes, neighbour_link(path));
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

// Of each kind, looked up when the first node asks for it.
class Groups {
 public:
  explicit Groups(const Resolved& resolved) : resolved_(resolved) {}
  const RankGroups& of(const graph::Node& node) {
    auto& groups = groups_[static_cast<std::size_t>(graph::among(node)) % groups_.size()];
    if (!groups) groups = rank_groups(graph::among(node), resolved_);
    return *groups;
  }

 private:
  const Resolved& resolved_;
  std::array<std::optional<RankGroups>, graph::kAmongs> groups_;
};

}  // namespace

ExchangePlan plan_collectives(const graph::Bound& step, const Resolved& resolved) {
  const comm::ExchangeCosts::Sharded& costs = resolved.exchange->sharded;
  Groups groups(resolved);
  ExchangePlan plan;
  plan.kernel_slowdown = costs.kernel_slowdown_share;
  for (const graph::Node& node : step.graph->nodes) {
    if (!exchanges_parameters(node)) continue;
    Exchange exchange = exchange_over(step, node, groups.of(node));
    exchange.host = Seconds{costs.collective_host_s};
    plan.exchanges.push_back(exchange);
  }
  return plan;
}

std::vector<Exchange> exchange_activations(const graph::Bound& step, const Resolved& resolved) {
  Groups groups(resolved);
  std::vector<Exchange> exchanges;
  for (const graph::Node& node : step.graph->nodes) {
    if (!graph::is_activation_exchange(node) || graph::is_transfer(node)) continue;
    exchanges.push_back(exchange_over(step, node, groups.of(node)));
  }
  return exchanges;
}

}  // namespace foretrain::parallel
