// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/detail/dequantize.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace foretrain::graph {
namespace {

// A weight that a layer's product reads: the node that made it, the one that then cast it, and what
// else the product read.
struct Dequantised {
  Node node;
  std::optional<Node> cast;
  std::optional<TensorId> read;
};

class Again {
 public:
  explicit Again(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    graph_.nodes.reserve(nodes.size());
    for (Node& node : nodes) {
      if (node.phase == Phase::Backward && !is_forward(node)) renew(node);
      note(node);
      graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  // What may run again in backward as it did in forward.
  static bool is_forward(const Node& node) {
    return node.kind == Kind::Linear || node.kind == Kind::Cast;
  }

  void note(const Node& node) {
    if (node.kind == Kind::Dequantize) made_[node.outputs.front()] = {node, {}, {}};
    if (!is_forward(node)) return;
    const auto found = made_.find(node.inputs[node.kind == Kind::Linear ? 1 : 0]);
    if (found == made_.end()) return;
    if (node.kind == Kind::Linear) {
      found->second.read = node.inputs.front();
    } else {
      const Node source = found->second.node;
      made_[node.outputs.front()] = {source, node, {}};
    }
  }

  void renew(Node& node) {
    for (TensorId& id : node.inputs) {
      const auto found = made_.find(id);
      if (found == made_.end()) continue;
      Node again = found->second.node;
      if (found->second.read) again.inputs.push_back(*found->second.read);
      id = append(std::move(again));
      if (!found->second.cast) continue;
      Node cast = *found->second.cast;
      cast.inputs = {id};
      id = append(std::move(cast));
    }
  }

  TensorId append(Node node) {
    Tensor tensor = graph_.tensor(node.outputs.front());
    tensor.role = Role::Gradient;
    const auto id = static_cast<TensorId>(graph_.tensors.size());
    graph_.tensors.push_back(std::move(tensor));
    node.phase = Phase::Backward;
    node.outputs = {id};
    graph_.nodes.push_back(std::move(node));
    return id;
  }

  Graph& graph_;
  std::unordered_map<TensorId, Dequantised> made_;
};

}  // namespace

Graph dequantize_again(Graph step) {
  const auto quantised = [](const Node& node) { return node.kind == Kind::Dequantize; };
  if (std::any_of(step.nodes.begin(), step.nodes.end(), quantised)) Again(step).run();
  return step;
}

}  // namespace foretrain::graph
