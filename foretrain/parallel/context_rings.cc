// SPDX-License-Identifier: Apache-2.0
// The rings of attention that context parallelism marks.
#include <map>
#include <utility>

#include "foretrain/graph/op.h"
#include "foretrain/parallel/context.h"

namespace foretrain::parallel {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Node;
using graph::Phase;
using graph::TensorId;
using Tensors = std::vector<TensorId>;

bool is_ring(const Node& node) {
  return (node.kind == Kind::Attention || node.kind == Kind::AttentionGrad) &&
         graph::among(node) == graph::Among::Context;
}

class Rings {
 public:
  Rings(graph::Graph step, int ranks) : step_(std::move(step)), ranks_(ranks) {}

  graph::Graph run() {
    const std::vector<Node> nodes = std::move(step_.nodes);
    step_.nodes.clear();
    step_.nodes.reserve(nodes.size());
    for (const Node& node : nodes) {
      if (!is_ring(node)) {
        step_.nodes.push_back(node);
      } else if (node.kind == Kind::Attention) {
        add_forward(node);
      } else {
        add_backward(node);
      }
    }
    return std::move(step_);
  }

 private:
  Tensors like(const Tensors& tensors) {
    Tensors made;
    for (const TensorId id : tensors) {
      graph::Tensor tensor = step_.tensor(id);
      step_.tensors.push_back(std::move(tensor));
      made.push_back(static_cast<TensorId>(step_.tensors.size()) - 1);
    }
    return made;
  }

  // A node that stands where the ring does.
  static Node beside(const Node& ring, Kind kind, Tensors inputs, Tensors outputs) {
    Node node;
    node.kind = kind;
    node.phase = ring.phase;
    node.scope = ring.scope;
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    return node;
  }

  // Each rank sends tensors to the next one; only who reads what arrives waits for it.
  Tensors pass_on(const Node& ring, const Tensors& sent) {
    Tensors arrived = like(sent);
    Node node = beside(ring, Kind::CollectivePermute, sent, arrived);
    node.attributes.set(Attr::Among, {Dim(static_cast<std::int64_t>(graph::Among::Context))});
    node.attributes.set(Attr::EveryPass, {Dim(1)});
    step_.nodes.push_back(std::move(node));
    return arrived;
  }

  static graph::Attributes without_mark(const graph::Attributes& attributes) {
    graph::Attributes own;
    for (const graph::Attribute& one : attributes.list()) {
      if (one.key != Attr::Among) own.set(one.key, one.values);
    }
    return own;
  }

  Tensors add_block(const Node& ring, Tensors inputs, Tensors outputs) {
    Node block = beside(ring, ring.kind, std::move(inputs), outputs);
    block.attributes = without_mark(ring.attributes);
    step_.nodes.push_back(std::move(block));
    return outputs;
  }

  void add_forward(const Node& ring) {
    Tensors held{ring.inputs[1], ring.inputs[2]};  // keys and values
    Tensors result;                                // and its statistics
    for (int i = 0; i < ranks_; ++i) {
      const bool last = i + 1 == ranks_;
      const Tensors next = last ? held : pass_on(ring, held);
      Tensors inputs = ring.inputs;
      inputs[1] = held[0];
      inputs[2] = held[1];
      const Tensors block = add_block(ring, inputs, like(ring.outputs));
      result = i == 0 ? block : merge(ring, result, block, last ? ring.outputs : like(block));
      held = next;
    }
    came_last_[ring.outputs.front()] = held;
  }

  // Both results, weighed by their sums of exponentials, in place of the first.
  Tensors merge(const Node& ring, const Tensors& before, const Tensors& block,
                const Tensors& merged) {
    Node node = beside(ring, Kind::Fused, {before[0], block[0], before[1], block[1]}, merged);
    node.label = "merge_blocks";
    std::vector<Dim> parts;
    for (const Kind kind : {Kind::Exp, Kind::Mul, Kind::Add}) {
      parts.emplace_back(static_cast<std::int64_t>(kind));
    }
    node.attributes.set(Attr::Of, parts);
    node.attributes.set(Attr::Inplace, {Dim(1)});
    node.attributes.set(Attr::Among, {Dim(static_cast<std::int64_t>(graph::Among::Context))});
    step_.nodes.push_back(std::move(node));
    return merged;
  }

  // Inputs: dy, queries, keys, values, result, statistics; outputs: gradients of the three, and
  // of what is added to the scores where that learns (which is not in a ring).
  void add_backward(const Node& ring) {
    const auto found = came_last_.find(ring.inputs[4]);
    Tensors held =
        found == came_last_.end() ? Tensors{ring.inputs[2], ring.inputs[3]} : found->second;
    TensorId queries = -1;
    Tensors sums;  // gradients of keys and values so far
    for (int i = 0; i < ranks_; ++i) {
      const bool last = i + 1 == ranks_;
      Tensors sent = last ? Tensors{} : held;
      sent.insert(sent.end(), sums.begin(), sums.end());
      const Tensors arrived = sent.empty() ? sent : pass_on(ring, sent);
      Tensors inputs = ring.inputs;
      inputs[2] = held[0];
      inputs[3] = held[1];
      const Tensors block = add_block(ring, inputs, like(ring.outputs));
      if (i == 0) {
        queries = block[0];
        sums = {block[1], block[2]};
      } else {
        const Tensors home = last ? ring.outputs : like(ring.outputs);
        queries = add(ring, queries, block[0], home[0]);
        const std::size_t first = last ? 0 : 2;
        sums = {add(ring, arrived[first], block[1], home[1]),
                add(ring, arrived[first + 1], block[2], home[2])};
      }
      if (!last) held = {arrived[0], arrived[1]};
    }
  }

  TensorId add(const Node& ring, TensorId sum, TensorId more, TensorId result) {
    step_.nodes.push_back(beside(ring, Kind::Add, {sum, more}, {result}));
    return result;
  }

  graph::Graph step_;
  int ranks_;
  std::map<TensorId, Tensors> came_last_;  // of each ring, by its result: keys and values
};

}  // namespace

graph::Graph expand_rings(graph::Graph step, int ranks) {
  return Rings(std::move(step), ranks).run();
}

}  // namespace foretrain::parallel
