// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/context_parts.h"

#include <algorithm>
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"

namespace foretrain::parallel {
namespace {

using graph::AxisFactor;
using graph::AxisName;
using graph::Dim;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Role;
using graph::TensorId;

constexpr NodeId kNone = -1;
constexpr int kTokens = 2;  // axis of queries, keys and values: [batch, heads, tokens, size]

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

std::optional<int> place_of(AxisName name, const std::vector<AxisName>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

class Search {
 public:
  Search(const graph::Graph& graph, int ranks)
      : graph_(graph),
        ranks_(ranks),
        producer_(graph.tensors.size(), kNone),
        free_(graph.tensors.size(), false),
        learns_(graph::needed_gradients(graph)) {
    parts_.split.resize(graph.tensors.size());
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const TensorId id : graph.nodes[n].outputs) producer_[at(id)] = static_cast<NodeId>(n);
    }
  }

  // Until no value that all ranks could compute is found to be needed in parts only.
  ContextParts run() {
    share_inputs();
    find_free();
    do {
      changed_ = false;
      parts_.gathers.clear();
      parts_.rings.clear();
      parts_.shared.clear();
      for (std::size_t n = 0; n < graph_.nodes.size(); ++n) visit(static_cast<NodeId>(n));
    } while (changed_);
    return std::move(parts_);
  }

 private:
  const Node& node_of(NodeId id) const { return graph_.nodes[at(id)]; }
  const std::optional<AxisFactor>& split(TensorId id) const { return parts_.split[at(id)]; }

  void share_inputs() {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const graph::Tensor& tensor = graph_.tensors[t];
      if (tensor.role != Role::Input || tensor.type != DType::I64) continue;
      if (tensor.shape.rank() < 2 || !graph::is_number(tensor.shape[1])) continue;
      const std::int64_t tokens = tensor.shape[1].factor;
      if (tokens % (2 * ranks_) == 0) {
        parts_.split[t] = AxisFactor{1, Dim(1)};
      } else {
        parts_.indivisible = std::to_string(tokens) + " tokens of '" + printable(tensor.name) + "'";
      }
    }
  }

  // What depends on buffers and parameters alone: positions, angles, masks.
  void find_free() {
    for (const Node& node : graph_.nodes) {
      const bool free = std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
        const Role role = graph_.tensor(id).role;
        return role == Role::Buffer || role == Role::Parameter || free_[at(id)];
      });
      for (const TensorId id : node.outputs) free_[at(id)] = free;
    }
  }

  void visit(NodeId id) {
    const Node& node = node_of(id);
    const auto first = std::find_if(node.inputs.begin(), node.inputs.end(),
                                    [&](TensorId input) { return split(input).has_value(); });
    if (first == node.inputs.end()) return;
    const bool shares = node.kind == Kind::Reshape     ? visit_reshape(node)
                        : node.kind == Kind::Attention ? visit_attention(id, node)
                                                       : visit_axes(id, node, *split(*first));
    if (shares) {
      parts_.shared.insert(id);
    } else {
      gather_all(id, node);
    }
  }

  // Ranks put everything together and go on with it in the same way.
  void gather_all(NodeId id, const Node& node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (split(node.inputs[i])) parts_.gathers[{id, i}] = Gathered::Same;
    }
  }

  bool visit_reshape(const Node& node) {
    const graph::Shape& to = graph_.tensor(node.outputs.front()).shape;
    const auto there = graph::through_reshape(graph_.tensor(node.inputs.front()).shape, to,
                                              *split(node.inputs.front()));
    if (!there || to[there->axis].factor % ranks_ != 0) return false;
    parts_.split[at(node.outputs.front())] = there;
    return true;
  }

  // Queries stay; keys and values of other ranks come around, unless what is added to the scores
  // learns: then they are gathered.
  bool visit_attention(NodeId id, const Node& node) {
    const AxisFactor tokens{kTokens, Dim(1)};
    if (split(node.inputs[0]) != tokens) return false;
    const bool learned = node.inputs.size() > 3 && learns_[at(node.inputs[3])];
    const bool ring =
        !learned && split(node.inputs[1]) == tokens && split(node.inputs[2]) == tokens;
    if (ring) {
      parts_.rings.insert(id);
    } else {
      for (const std::size_t i : {1U, 2U}) {
        if (split(node.inputs[i])) parts_.gathers[{id, i}] = Gathered::Different;
      }
      if (node.inputs.size() > 3 && !take_bias(id, node.inputs[3])) return false;
    }
    for (const TensorId output : node.outputs) parts_.split[at(output)] = tokens;
    return true;
  }

  bool take_bias(NodeId id, TensorId bias) {
    const graph::Shape& shape = graph_.tensor(bias).shape;
    const int axis = shape.rank() - 2;
    if (split(bias)) return split(bias) == AxisFactor{axis, Dim(1)};
    return axis < 0 || shape[axis] == Dim(1) || take_part({id, 3}, {axis, Dim(1)});
  }

  bool visit_axes(NodeId id, const Node& node, const AxisFactor& factor) {
    const std::optional<graph::NodeAxes> axes = graph::axes_of(graph_, node);
    if (!axes) return false;
    const auto first = std::find_if(node.inputs.begin(), node.inputs.end(),
                                    [&](TensorId input) { return split(input).has_value(); });
    const AxisName name =
        axes->inputs[static_cast<std::size_t>(first - node.inputs.begin())][at(factor.axis)];
    if (!keeps(node, *axes, name)) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<int> place = place_of(name, axes->inputs[i]);
      const std::optional<AxisFactor>& own = split(node.inputs[i]);
      if (own && !(place && *own == AxisFactor{*place, factor.outer})) {
        parts_.gathers[{id, i}] = Gathered::Different;
      } else if (!own && place && !take_part({id, i}, {*place, factor.outer})) {
        return false;
      }
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const auto place = place_of(name, axes->outputs[i]);
      if (place) parts_.split[at(node.outputs[i])] = AxisFactor{*place, factor.outer};
    }
    return true;
  }

  // Whether each rank can do its part. A loss is the sum of the ranks' own.
  static bool keeps(const Node& node, const graph::NodeAxes& axes, AxisName name) {
    if (name == graph::kNoAxis || name == graph::kAttributeAxis) return false;
    if (std::find(axes.whole.begin(), axes.whole.end(), name) != axes.whole.end()) return false;
    return place_of(name, axes.outputs.front()) || graph::op(node).family == graph::Family::Loss;
  }

  // A value that all ranks have: only a part of it is computed, or else is taken from it.
  bool take_part(const Operand& operand, const AxisFactor& factor) {
    const TensorId id = node_of(operand.node).inputs[operand.input];
    std::map<TensorId, AxisFactor> wanted;
    std::map<Operand, int> own;
    if (free_[at(id)] && compute_part(id, factor, wanted, own)) {
      for (const auto& [tensor, along] : wanted) parts_.split[at(tensor)] = along;
      parts_.own_parts.insert(own.begin(), own.end());
      changed_ = true;
      return true;
    }
    if (!(factor.outer == Dim(1))) return false;
    parts_.own_parts[operand] = factor.axis;
    return true;
  }

  bool compute_part(TensorId id, const AxisFactor& factor, std::map<TensorId, AxisFactor>& wanted,
                    std::map<Operand, int>& own) const {
    const NodeId producer = producer_[at(id)];
    if (producer == kNone) return false;
    const Node& node = node_of(producer);
    wanted.emplace(id, factor);
    if (node.kind == Kind::Reshape) {
      const auto there = graph::through_reshape(graph_.tensor(id).shape,
                                                graph_.tensor(node.inputs.front()).shape, factor);
      return there && compute_input({producer, 0}, *there, wanted, own);
    }
    const std::optional<graph::NodeAxes> axes = graph::axes_of(graph_, node);
    if (!axes || node.outputs.front() != id) return false;
    const AxisName name = axes->outputs.front()[at(factor.axis)];
    if (!keeps(node, *axes, name)) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto place = place_of(name, axes->inputs[i]);
      if (place && !compute_input({producer, i}, {*place, factor.outer}, wanted, own)) return false;
    }
    return true;
  }

  bool compute_input(const Operand& operand, const AxisFactor& factor,
                     std::map<TensorId, AxisFactor>& wanted, std::map<Operand, int>& own) const {
    const TensorId id = node_of(operand.node).inputs[operand.input];
    if (split(id)) return split(id) == factor;
    if (graph_.tensor(id).role != Role::Buffer) return compute_part(id, factor, wanted, own);
    own[operand] = factor.axis;
    return factor.outer == Dim(1);
  }

  const graph::Graph& graph_;
  int ranks_;
  std::vector<NodeId> producer_;  // of each tensor
  std::vector<bool> free_;        // likewise: whether it depends on no input
  std::vector<bool> learns_;      // likewise: whether it has a gradient
  ContextParts parts_;
  bool changed_ = false;
};

}  // namespace

ContextParts find_context_parts(const graph::Graph& forward, int ranks) {
  return Search(forward, ranks).run();
}

}  // namespace foretrain::parallel
