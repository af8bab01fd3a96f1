// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/recompute.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace foretrain::graph {
namespace {

constexpr std::int32_t kNone = -1;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool contains(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// What forward left: everything but gradients.
bool is_kept(const Graph& graph, TensorId id) { return graph.tensor(id).role != Role::Gradient; }

class Recomputing {
 public:
  Recomputing(Graph step, const std::vector<NodeId>& origins, bool to_the_end)
      : step_(std::move(step)),
        origins_(origins),
        to_the_end_(to_the_end),
        producer_(step_.tensors.size(), kNone),
        gradients_of_(step_.nodes.size()) {
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      for (const TensorId id : step_.nodes[n].outputs) producer_[at(id)] = static_cast<NodeId>(n);
      if (origins_[n] != kNone) gradients_of_[at(origins_[n])].push_back(static_cast<NodeId>(n));
    }
  }

  void add(const Checkpoint& checkpoint) {
    const std::size_t count = to_run(checkpoint);
    const NodeId first = first_reader(checkpoint);
    if (count == 0 || first == kNone) return;
    copies_.clear();
    std::vector<Node>& before = before_[first];
    for (std::size_t i = 0; i < count; ++i) run(step_.nodes[at(checkpoint[i])], checkpoint, before);
    for (const NodeId node : checkpoint) {
      for (const NodeId gradient : gradients_of_[at(node)]) read_copies(step_.nodes[at(gradient)]);
    }
  }

  Graph finish() {
    std::vector<Node> nodes;
    nodes.reserve(step_.nodes.size());
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      const auto found = before_.find(static_cast<NodeId>(n));
      if (found != before_.end()) {
        std::move(found->second.begin(), found->second.end(), std::back_inserter(nodes));
      }
      nodes.push_back(std::move(step_.nodes[n]));
    }
    step_.nodes = std::move(nodes);
    return std::move(step_);
  }

 private:
  // How many of its nodes run again. An operator saves inputs before it runs and outputs after.
  std::size_t to_run(const Checkpoint& checkpoint) const {
    for (std::size_t i = checkpoint.size(); i-- > 0;) {
      const Node& node = step_.nodes[at(checkpoint[i])];
      bool saves_input = false;
      for (const NodeId gradient : gradients_of_[at(checkpoint[i])]) {
        for (const TensorId id : step_.nodes[at(gradient)].inputs) {
          if (!is_kept(step_, id)) continue;
          if (to_the_end_) return checkpoint.size();
          if (contains(node.outputs, id)) return i + 1;
          saves_input = true;
        }
      }
      if (saves_input) return i;
    }
    return 0;
  }

  // The backward node that finds its tensors gone.
  NodeId first_reader(const Checkpoint& checkpoint) const {
    NodeId first = kNone;
    for (const NodeId node : checkpoint) {
      for (const NodeId gradient : gradients_of_[at(node)]) {
        const std::vector<TensorId>& inputs = step_.nodes[at(gradient)].inputs;
        const bool reads = std::any_of(inputs.begin(), inputs.end(),
                                       [&](TensorId id) { return is_kept(step_, id); });
        if (reads && (first == kNone || gradient < first)) first = gradient;
      }
    }
    return first;
  }

  // Autocast's copy of a parameter that another part of the model made first.
  bool is_cached_cast(NodeId node) const {
    if (node == kNone || step_.nodes[at(node)].kind != Kind::Cast) return false;
    const TensorId id = step_.nodes[at(node)].inputs.front();
    return step_.tensor(id).role == Role::Parameter && step_.tensor(id).trainable;
  }

  void run(const Node& node, const Checkpoint& checkpoint, std::vector<Node>& before) {
    for (const TensorId id : node.inputs) {
      const NodeId from = at(id) < producer_.size() ? producer_[at(id)] : kNone;
      const bool own = std::binary_search(checkpoint.begin(), checkpoint.end(), from);
      if (!own && !copies_.contains(id) && is_cached_cast(from)) {
        copy(Node(step_.nodes[at(from)]), before);
      }
    }
    copy(node, before);
  }

  void copy(Node node, std::vector<Node>& before) {
    node.phase = Phase::Recompute;
    read_copies(node);
    for (TensorId& id : node.outputs) {
      Tensor tensor = step_.tensor(id);
      step_.tensors.push_back(std::move(tensor));
      const auto fresh = static_cast<TensorId>(step_.tensors.size()) - 1;
      copies_[id] = fresh;
      id = fresh;
    }
    before.push_back(std::move(node));
  }

  void read_copies(Node& node) const {
    for (TensorId& id : node.inputs) {
      const auto found = copies_.find(id);
      if (found != copies_.end()) id = found->second;
    }
  }

  Graph step_;
  const std::vector<NodeId>& origins_;
  bool to_the_end_;
  std::vector<NodeId> producer_;                   // of each tensor
  std::vector<std::vector<NodeId>> gradients_of_;  // of each forward node: its backward nodes
  std::map<TensorId, TensorId> copies_;            // of the checkpoint at hand
  std::map<NodeId, std::vector<Node>> before_;     // what runs again before a node
};

}  // namespace

Graph recompute(Graph step, const std::vector<Checkpoint>& checkpoints,
                const std::vector<NodeId>& origins, bool to_the_end) {
  Recomputing recomputing(std::move(step), origins, to_the_end);
  for (const Checkpoint& checkpoint : checkpoints) recomputing.add(checkpoint);
  return recomputing.finish();
}

}  // namespace foretrain::graph
