// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/offload.h"

#include <utility>

#include "foretrain/comm/point_to_point.h"
#include "foretrain/graph/offload.h"
#include "foretrain/parallel/detail/insert.h"

namespace foretrain::parallel {
namespace {

using What = Offload::What;

// Bytes that pass over the link: of what comes back where it is named, the first result being all
// of it, else of the node's tensors.
double copied_bytes(const graph::Bound& step, const graph::Node& node) {
  const bool returns = graph::is_copy_in(node) && !node.outputs.empty();
  return returns ? step.bytes(node.outputs.front()) : bytes_of_node(step, node);
}

}  // namespace

std::string offload_key(const Resolved& resolved) {
  switch (resolved.offload.what) {
    case What::Optimizer:
      return " offload optimizer";
    case What::Activations:
      return " offload activations " + std::to_string(resolved.offload.least_bytes);
    case What::Nothing:
      break;
  }
  return "";
}

void add_offload(graph::Graph& step, const Resolved& resolved) {
  if (resolved.offload.what == What::Optimizer) offload_optimizer(step);
  if (resolved.offload.what == What::Activations) {
    offload_activations(step, resolved.offload.least_bytes);
  }
}

ExchangePlan with_offload(ExchangePlan plan, const graph::Bound& step, const Resolved& resolved) {
  if (resolved.offload.what == What::Nothing) return plan;
  comm::Link link(resolved.offload.link);
  link.bytes_per_s = hw::node_bytes_per_s(resolved.offload.link);
  std::vector<Exchange> all;
  std::size_t next = 0;
  for (const graph::Node& node : step.graph->nodes) {
    if (!graph::is_communication(node)) continue;
    if (!graph::is_offload(node)) {
      all.push_back(plan.exchanges[next++]);
    } else if (graph::is_host_update(node)) {
      all.emplace_back();  // takes as long as its bytes do in the host's memory
    } else {
      all.push_back({comm::point_to_point(copied_bytes(step, node), link), {}});
    }
  }
  plan.exchanges = std::move(all);
  plan.host_bytes_per_s = resolved.offload.memory_bytes_per_s;
  plan.assumptions.push_back(resolved.offload.assumption);
  return plan;
}

}  // namespace foretrain::parallel
