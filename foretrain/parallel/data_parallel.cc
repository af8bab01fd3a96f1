// SPDX-License-Identifier: Apache-2.0
// PyTorch's nn.DataParallel: one process on one node hands parameters out and takes gradients in.
#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/comm/path.h"
#include "foretrain/graph/offload.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/strategies.h"

namespace foretrain::parallel {

void add_data_parallel(graph::Graph& step, const Resolved&) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  add_buckets(step, graph::Kind::Reduce, graph::make_buckets(step, {kAll, kAll}));
  std::vector<graph::TensorId> parameters;
  for (const auto& [parameter, gradient] : step.gradients) parameters.push_back(parameter);
  insert(step, {{communication(graph::Kind::Broadcast, std::move(parameters), graph::Waiting::Host),
                 kFront}});
}

// T_n = T_1 + t n p + 2 bytes / rate for p tensors on n devices: half before the forward pass
// (parameters go out), half after backward (gradients come in). Each of both is one pipeline over
// all devices (NCCL's broadcast and reduce), so the bytes do not count once per device.
ExchangePlan plan_data_parallel(const graph::Bound& step, const Resolved& resolved) {
  const hw::Cluster& cluster = resolved.cluster;
  const comm::Path path = comm::path_over(cluster, *resolved.collectives);
  if (path.nodes > 1) {
    throw Error(ErrorKind::Unsupported,
                "strategy dataparallel runs in one process on one node; use ddp for several nodes");
  }
  const double bytes = bytes_of_kind(step, graph::Kind::Reduce);
  const auto tensors = static_cast<double>(step.graph->gradients.size());
  const hw::Link& bus = cluster.links[static_cast<std::size_t>(cluster.nodes.front().intra_node)];
  const comm::ExchangeCosts::DataParallel& costs = resolved.exchange->data_parallel;
  const double rate =
      bus.peer_access ? path.inside.bytes_per_s : costs.host_copy_share * bus.bytes_per_s;
  const Seconds half =
      resolved.workers * tensors / 2 * Seconds{costs.tensor_s} + Seconds{bytes / rate};
  ExchangePlan plan;
  for (const graph::Node& node : step.graph->nodes) {
    if (!graph::is_communication(node) || graph::is_offload(node)) continue;
    plan.exchanges.push_back({half, {}});
  }
  return plan;
}

}  // namespace foretrain::parallel
