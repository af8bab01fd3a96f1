// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/tensor_regions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"

namespace foretrain::parallel {
namespace {

using graph::AxisFactor;
using graph::AxisName;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Role;
using graph::TensorId;

constexpr int kNone = -1;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool contains(const std::vector<AxisName>& names, AxisName name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool sums(Kind kind) {
  return kind == Kind::Linear || kind == Kind::MatMul || kind == Kind::Embedding ||
         kind == Kind::Sum || kind == Kind::Mean;
}

// Who reads and writes each tensor.
struct Uses {
  explicit Uses(const graph::Graph& graph)
      : producer(graph.tensors.size(), kNone), readers(graph.tensors.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      for (const TensorId t : graph.nodes[n].inputs) readers[at(t)].push_back(id);
      for (const TensorId t : graph.nodes[n].outputs) producer[at(t)] = id;
    }
  }
  std::vector<NodeId> producer;
  std::vector<std::vector<NodeId>> readers;
};

// One attempt: what follows from splitting one parameter.
class Attempt {
 public:
  Attempt(const graph::Graph& graph, const Uses& uses, const TensorRegions& before, int ranks)
      : graph_(graph), uses_(uses), before_(before), ranks_(ranks) {}

  bool run(TensorId parameter, int axis) {
    if (!assign(parameter, {axis, graph::Dim(1)})) return false;
    while (!queue_.empty()) {
      const TensorId id = queue_.back();
      queue_.pop_back();
      const NodeId producer = uses_.producer[at(id)];
      if (producer != kNone && !touch(producer, id)) return false;
      for (const NodeId reader : uses_.readers[at(id)]) {
        if (!touch(reader, id)) return false;
      }
    }
    return std::none_of(whole_.begin(), whole_.end(),
                        [&](TensorId id) { return split_.contains(id) || before_.split[at(id)]; });
  }

  // The layer that has a size which the ranks do not divide; "" where there is none.
  std::string indivisible() const {
    const bool padded = !losses_.empty() || vocabulary_;
    return padded ? "" : indivisible_;
  }

  void commit(TensorRegions& regions) const {
    for (const auto& [node, name] : names_) regions.of_node[at(node)] = regions.count;
    for (const auto& [id, factor] : split_) regions.split[at(id)] = factor;
    regions.entries.insert(entries_.begin(), entries_.end());
    regions.own_parts.insert(own_parts_.begin(), own_parts_.end());
    regions.partial.insert(partial_.begin(), partial_.end());
    regions.losses.insert(losses_.begin(), losses_.end());
    regions.summed.insert(summed_.begin(), summed_.end());
    regions.whole.insert(whole_.begin(), whole_.end());
    ++regions.count;
  }

 private:
  const Node& node_of(NodeId id) const { return graph_.nodes[at(id)]; }

  bool assign(TensorId id, const AxisFactor& factor) {
    const auto [place, is_new] = split_.try_emplace(id, factor);
    if (!is_new) return place->second == factor;
    if (before_.split[at(id)] || before_.whole.contains(id)) return false;
    const graph::Dim& size = graph_.tensor(id).shape[factor.axis];
    graph::Dim rest;
    if (!graph::divides(factor.outer, size, rest)) return false;
    if (rest.factor % ranks_ != 0 && indivisible_.empty()) note_indivisible(id, rest.factor);
    queue_.push_back(id);
    return true;
  }

  void note_indivisible(TensorId id, std::int64_t size) {
    const graph::Tensor& tensor = graph_.tensor(id);
    const NodeId producer = uses_.producer[at(id)];
    const std::string where = producer == kNone ? tensor.name : node_of(producer).scope;
    indivisible_ = "the " + std::to_string(size) + " of '" + printable(where) + "'";
  }

  // The node's axis that the tensor's split is one of.
  bool touch(NodeId id, TensorId tensor) {
    const Node& node = node_of(id);
    if (before_.of_node[at(id)] != kNone) return false;
    const AxisFactor factor = split_.at(tensor);
    if (node.kind == Kind::Reshape) return touch_reshape(id, tensor, factor);
    const std::optional<graph::NodeAxes> axes = graph::axes_of(graph_, node);
    if (!axes) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != tensor || own_parts_.contains({id, i})) continue;
      if (!split_node(id, *axes, axes->inputs[i][at(factor.axis)], factor.outer)) return false;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != tensor) continue;
      if (axes->outputs[i].empty()) return false;
      if (!split_node(id, *axes, axes->outputs[i][at(factor.axis)], factor.outer)) return false;
    }
    return true;
  }

  bool touch_reshape(NodeId id, TensorId tensor, const AxisFactor& factor) {
    const Node& node = node_of(id);
    const bool forward = node.inputs.front() == tensor;
    const TensorId other = forward ? node.outputs.front() : node.inputs.front();
    const auto there =
        graph::through_reshape(graph_.tensor(tensor).shape, graph_.tensor(other).shape, factor);
    names_[id] = 0;
    return there && demand({id, 0}, other, *there);
  }

  // All tensors that have the axis are split; the others are whole.
  bool split_node(NodeId id, const graph::NodeAxes& axes, AxisName name, const graph::Dim& outer) {
    const auto [place, is_new] = names_.try_emplace(id, name);
    if (!is_new) return place->second == name;
    if (name == graph::kNoAxis || contains(axes.whole, name)) return false;
    const Node& node = node_of(id);
    if (name == graph::kAttributeAxis && !has_parts(node)) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& names = axes.inputs[i];
      const auto found = std::find(names.begin(), names.end(), name);
      const Operand operand{id, i};
      if (found == names.end()) {
        keep_whole(operand);
      } else if (!demand(operand, node.inputs[i],
                         {static_cast<int>(found - names.begin()), outer})) {
        return false;
      }
    }
    if (node.kind == Kind::Embedding && name == 'v') vocabulary_ = true;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const auto& names = axes.outputs[i];
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end()) {
        if (!assign(node.outputs[i], {static_cast<int>(found - names.begin()), outer}))
          return false;
      } else if (i == 0 && !reduce(id, name)) {
        return false;
      }
    }
    return true;
  }

  // Parts along the axis of which each rank has its own part: queries, keys and values of one GEMM.
  bool has_parts(const Node& node) {
    const auto note = [&](std::int64_t size) {
      if (size % ranks_ != 0 && indivisible_.empty()) note_indivisible(node.inputs.front(), size);
    };
    if (node.kind == Kind::Split) {
      for (const graph::Dim& size : *node.attributes.find(graph::Attr::Sizes)) note(size.factor);
    }
    if (node.kind != Kind::Slice) return true;
    const std::int64_t start = node.attributes.number(graph::Attr::Start, 0);
    const std::int64_t end = node.attributes.number(graph::Attr::End, ranks_);
    note(start);
    note(end);
    return start >= 0 && end > 0 && node.attributes.number(graph::Attr::Step, 1) == 1;
  }

  // What all ranks have from the start they need not compute: each takes its part.
  bool demand(const Operand& operand, TensorId id, const AxisFactor& factor) {
    const Role role = graph_.tensor(id).role;
    if (role == Role::Input || role == Role::Buffer) {
      own_parts_.emplace(operand, factor);
      return factor.outer == graph::Dim(1);
    }
    return assign(id, factor);
  }

  void keep_whole(const Operand& operand) {
    const TensorId id = node_of(operand.node).inputs[operand.input];
    if (const auto parameter = parameter_of(id)) {
      // A bias of a partial sum is added to the sum.
      summed_.insert(*parameter);
      whole_.insert(*parameter);
      whole_.insert(id);
      return;
    }
    whole_.insert(id);
    const graph::Tensor& tensor = graph_.tensor(id);
    if (is_floating(tensor.type) && tensor.role == Role::Activation) entries_.insert(operand);
  }

  // The parameter that a tensor is a copy of.
  std::optional<TensorId> parameter_of(TensorId id) const {
    while (graph_.tensor(id).role != Role::Parameter) {
      const NodeId producer = uses_.producer[at(id)];
      if (producer == kNone || node_of(producer).kind != Kind::Cast) return std::nullopt;
      id = node_of(producer).inputs.front();
    }
    return id;
  }

  // Partial sums, where the node sums over the axis.
  bool reduce(NodeId id, AxisName name) {
    const Node& node = node_of(id);
    if (node.kind == Kind::CrossEntropy && name == 'v') {
      losses_.insert(id);
      return true;
    }
    if (!sums(node.kind)) return false;
    partial_.insert(id);
    if (node.kind == Kind::Linear && node.inputs.size() > 2) {
      if (const auto bias = parameter_of(node.inputs[2])) summed_.erase(*bias);
    }
    whole_.insert(node.outputs.front());
    return true;
  }

  const graph::Graph& graph_;
  const Uses& uses_;
  const TensorRegions& before_;
  int ranks_;
  std::vector<TensorId> queue_;
  std::map<TensorId, AxisFactor> split_;
  std::map<NodeId, AxisName> names_;  // of each node: the axis of it that is split
  std::set<TensorId> whole_;
  std::set<Operand> entries_;
  std::map<Operand, AxisFactor> own_parts_;
  std::set<NodeId> partial_;
  std::set<NodeId> losses_;
  std::set<TensorId> summed_;
  bool vocabulary_ = false;
  std::string indivisible_;
};

class Search {
 public:
  Search(const graph::Graph& graph, int ranks) : graph_(graph), ranks_(ranks), uses_(graph) {
    regions_.of_node.assign(graph.nodes.size(), kNone);
    regions_.split.assign(graph.tensors.size(), std::nullopt);
  }

  TensorRegions run() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (regions_.of_node[n] != kNone) continue;
      if (const auto seed = seed_of(graph_.nodes[n])) attempt(seed->first, seed->second);
    }
    return std::move(regions_);
  }

 private:
  void attempt(TensorId parameter, int axis) {
    Attempt attempt(graph_, uses_, regions_, ranks_);
    if (!attempt.run(parameter, axis)) return;
    if (!attempt.indivisible().empty()) {
      throw Error(ErrorKind::BadInput, "strategy: tensor " + std::to_string(ranks_) +
                                           " does not divide " + attempt.indivisible() +
                                           "; use a degree that divides heads and features");
    }
    attempt.commit(regions_);
  }

  // A parameter whose split divides the node's work, and its axis: output features of a GEMM, the
  // words of a table that inputs choose from.
  std::optional<std::pair<TensorId, int>> seed_of(const Node& node) const {
    if (node.kind == Kind::Linear && is_parameter(node.inputs[1])) return {{node.inputs[1], 0}};
    if (node.kind == Kind::MatMul && is_parameter(node.inputs[1])) {
      const int rank = graph_.tensor(node.inputs[1]).shape.rank();
      const bool transposed = node.attributes.number(graph::Attr::TransposeB, 0) != 0;
      return {{node.inputs[1], rank - (transposed ? 2 : 1)}};
    }
    if (node.kind != Kind::Embedding || !is_parameter(node.inputs[1])) return std::nullopt;
    const graph::Shape& table = graph_.tensor(node.inputs[1]).shape;
    const bool of_words =
        graph_.tensor(node.inputs[0]).role == Role::Input && table[0].factor >= table[1].factor;
    if (!of_words) return std::nullopt;
    return {{node.inputs[1], 0}};
  }

  // Itself, or a copy in another type.
  bool is_parameter(TensorId id) const {
    const NodeId producer = uses_.producer[at(id)];
    if (producer != kNone && graph_.nodes[at(producer)].kind == Kind::Cast) {
      return is_parameter(graph_.nodes[at(producer)].inputs.front());
    }
    return graph_.tensor(id).role == Role::Parameter;
  }

  const graph::Graph& graph_;
  int ranks_;
  Uses uses_;
  TensorRegions regions_;
};

}  // namespace

TensorRegions find_tensor_regions(const graph::Graph& forward, int ranks) {
  return Search(forward, ranks).run();
}

}  // namespace foretrain::parallel
