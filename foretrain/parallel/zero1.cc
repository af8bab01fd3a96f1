// SPDX-License-Identifier: Apache-2.0
// ZeRO-1: ranks share the optimizer's states. In PyTorch this is DistributedDataParallel with the
// ZeroRedundancyOptimizer, whose ranks own whole parameters; elsewhere flat buffers are divided.
#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "foretrain/parallel/detail/collectives.h"
#include "foretrain/parallel/detail/flat.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/strategies.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;
using graph::TensorId;

// Which of the parameters with these sizes the fullest rank owns: the largest first, each to the
// rank that has least so far. Source: PyTorch, zero_redundancy_optimizer.py.
std::vector<bool> owned_by_fullest(const std::vector<double>& sizes, int ranks) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<double> filled(static_cast<std::size_t>(ranks), 0);
  std::vector<std::size_t> owner(sizes.size(), 0);
  for (const std::size_t i : order) {
    const auto least = std::min_element(filled.begin(), filled.end());
    owner[i] = static_cast<std::size_t>(least - filled.begin());
    *least += sizes[i];
  }
  const auto fullest =
      static_cast<std::size_t>(std::max_element(filled.begin(), filled.end()) - filled.begin());
  std::vector<bool> owned(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) owned[i] = owner[i] == fullest;
  return owned;
}

// States have the names of their parameters; those of others are not here.
void drop_states(graph::Graph& step, const std::vector<bool>& owned) {
  std::set<std::string> kept;
  for (std::size_t i = 0; i < owned.size(); ++i) {
    if (owned[i]) kept.insert(step.tensor(step.gradients[i].first).name);
  }
  for (graph::Tensor& tensor : step.tensors) {
    if (tensor.role != graph::Role::OptimizerState || kept.contains(tensor.name)) continue;
    tensor.role = graph::Role::Activation;
  }
}

void keep_owned(std::vector<TensorId>& inputs, const std::vector<bool>& owned) {
  std::vector<TensorId> kept;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (owned[i % owned.size()]) kept.push_back(inputs[i]);
  }
  inputs = std::move(kept);
}

// Each rank updates what it owns, then sends every parameter of it to all others.
void share_update(graph::Graph& step, const Resolved& resolved) {
  if (step.gradients.empty()) return;
  std::vector<double> sizes;
  for (const auto& [parameter, gradient] : step.gradients) {
    sizes.push_back(static_cast<double>(graph::elements(step.tensor(parameter).shape).factor));
  }
  const std::vector<bool> owned = owned_by_fullest(sizes, shard_ranks(resolved));
  drop_states(step, owned);
  std::vector<Insertion> insertions;
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    graph::Node& node = step.nodes[n];
    if (node.kind != Kind::Update) continue;
    keep_owned(node.inputs, owned);
    for (const auto& [parameter, gradient] : step.gradients) {
      graph::Node sent = communication(Kind::Broadcast, {parameter});
      sent.attributes.set(graph::Attr::Among,
                          {graph::Dim(static_cast<std::int64_t>(graph::Among::ShardGroup))});
      insertions.push_back({std::move(sent), static_cast<graph::NodeId>(n)});
    }
  }
  insert(step, std::move(insertions));
}

}  // namespace

void add_zero1(graph::Graph& step, const Resolved& resolved) {
  if (resolved.framework->flat_shards) {
    shard_flat(step, resolved, FlatGradients::Whole);
    return;
  }
  add_ddp(step, resolved);
  share_update(step, resolved);
}

ExchangePlan plan_zero1(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan = plan_collectives(step, resolved);
  if (resolved.framework->flat_shards) {
    plan.assumptions.push_back("each rank updates its part of flat buckets of gradients");
    return plan;
  }
  const ExchangePlan ddp = plan_ddp(step, resolved);
  plan.gradient_copies = ddp.gradient_copies;
  plan.per_gradient = ddp.per_gradient;
  plan.per_gradient_byte_s = ddp.per_gradient_byte_s;
  plan.kernel_slowdown = ddp.kernel_slowdown;
  for (Exchange& exchange : plan.exchanges) exchange.host = Seconds{0};
  plan.assumptions = ddp.assumptions;
  plan.assumptions.push_back("each rank updates whole parameters and broadcasts them");
  return plan;
}

std::vector<double> zero1_flat_buffers(const graph::Bound& step, const Resolved& resolved) {
  if (resolved.framework->flat_shards) return flat_shard_buffers(step, resolved);
  return ddp_flat_buffers(step, resolved);
}

}  // namespace foretrain::parallel
