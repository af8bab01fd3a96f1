// SPDX-License-Identifier: Apache-2.0
// What tensor parallelism changes in a step that has its backward pass.
#include <algorithm>
#include <utility>

#include "foretrain/graph/op.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/tensor.h"

namespace foretrain::parallel {
namespace {

using graph::Attr;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Phase;
using graph::TensorId;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

// An all-gather at the entry of a region.
bool gathers_sequence(const Node& node) {
  return node.kind == Kind::AllGather && graph::is_forward(node) &&
         graph::among(node) == graph::Among::Tensor && node.attributes.find(Attr::Of) == nullptr;
}

}  // namespace

graph::Graph gather_again(graph::Graph step) {
  std::vector<NodeId> gather_of(step.tensors.size(), -1);
  std::vector<TensorId> again(step.tensors.size(), -1);
  std::vector<Node> nodes;
  nodes.reserve(step.nodes.size());
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    if (gathers_sequence(step.nodes[n])) {
      gather_of[at(step.nodes[n].outputs.front())] = static_cast<NodeId>(n);
    }
  }
  for (const Node& old : step.nodes) {
    Node node = old;
    if (node.phase == Phase::Backward) {
      for (TensorId& id : node.inputs) {
        if (at(id) >= gather_of.size() || gather_of[at(id)] < 0) continue;
        if (again[at(id)] < 0) {
          Node gather = step.nodes[at(gather_of[at(id)])];
          const graph::Tensor copy = step.tensor(id);
          step.tensors.push_back(copy);
          again[at(id)] = static_cast<TensorId>(step.tensors.size()) - 1;
          gather.outputs = {again[at(id)]};
          gather.phase = Phase::Recompute;
          nodes.push_back(std::move(gather));
        }
        id = again[at(id)];
      }
    }
    nodes.push_back(std::move(node));
  }
  step.nodes = std::move(nodes);
  return step;
}

graph::Graph sum_partial_gradients(graph::Graph step) {
  std::vector<TensorId> partial;
  for (const auto& [parameter, gradient] : step.gradients) {
    if (step.tensor(parameter).partial_gradient) partial.push_back(gradient);
  }
  if (partial.empty()) return step;
  Node sum = communication(Kind::AllReduce, std::move(partial));
  sum.scope = "optimizer";
  sum.attributes.set(Attr::Among, {graph::Dim(static_cast<std::int64_t>(graph::Among::Tensor))});
  const auto update = std::find_if(step.nodes.begin(), step.nodes.end(),
                                   [](const Node& node) { return node.kind == Kind::Update; });
  step.nodes.insert(update, std::move(sum));
  return step;
}

}  // namespace foretrain::parallel
