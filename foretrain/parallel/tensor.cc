// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/tensor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/rules.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/parts.h"
#include "foretrain/parallel/detail/share_of_flops.h"
#include "foretrain/parallel/detail/tensor_regions.h"

namespace foretrain::parallel {
namespace {

using graph::Attr;
using graph::AxisFactor;
using graph::Dim;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Role;
using graph::Shape;
using graph::TensorId;

constexpr double kLeastShare = 0.5;  // of a model's GEMMs, below which it is not worth a word

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

// Of a region with several of them: casts of the same value, which enter as one.
using Casts = std::map<std::pair<int, TensorId>, std::vector<Operand>>;

class Splitting {
 public:
  Splitting(const graph::Graph& forward, const TensorParallel& how)
      : old_(forward),
        graph_(forward),
        how_(how),
        regions_(find_tensor_regions(forward, how.ranks)),
        sequence_(forward.tensors.size()) {}

  graph::Graph run() {
    require_share();
    enter_before_casts();
    graph_.nodes.clear();
    for (std::size_t t = 0; t < old_.tensors.size(); ++t) split_parameter(static_cast<TensorId>(t));
    for (const TensorId id : regions_.summed) graph_.tensor(id).partial_gradient = true;
    for (std::size_t n = 0; n < old_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (regions_.of_node[n] >= 0) {
        add_inside(id, old_.nodes[n]);
      } else {
        add_outside(old_.nodes[n]);
      }
    }
    gather_outputs();
    graph_.notes.push_back("tensor parallelism: " + std::to_string(how_.ranks) + " ranks share " +
                           std::to_string(regions_.count) +
                           " parts of the model, from GEMMs split by columns to GEMMs split by "
                           "rows; their collectives are not hidden");
    const bool none_shared = std::none_of(sequence_.begin(), sequence_.end(),
                                          [](const auto& place) { return place.has_value(); });
    if (how_.sequence && none_shared) {
      graph_.notes.push_back("sequence_parallel has no effect: " + std::to_string(how_.ranks) +
                             " ranks do not divide the model's sequences");
    }
    return std::move(graph_);
  }

 private:
  void require_share() const {
    const auto counts = [&](std::size_t n) { return regions_.of_node[n] >= 0; };
    if (share_of_flops(old_, counts) >= kLeastShare) return;
    throw Error(ErrorKind::Unsupported,
                "strategy: tensor " + std::to_string(how_.ranks) +
                    ": less than half of the GEMMs "
                    "of model '" +
                    printable(old_.name) +
                    "' can be split by heads or features; it is for transformers and MLPs");
  }

  // Under autocast queries, keys and values each cast what they read; it enters once.
  void enter_before_casts() {
    std::vector<NodeId> producer(old_.tensors.size(), -1);
    for (std::size_t n = 0; n < old_.nodes.size(); ++n) {
      for (const TensorId id : old_.nodes[n].outputs) producer[at(id)] = static_cast<NodeId>(n);
    }
    Casts casts;
    for (const Operand& entry : regions_.entries) {
      const TensorId id = old_.nodes[at(entry.node)].inputs[entry.input];
      const NodeId cast = producer[at(id)];
      if (cast < 0 || old_.nodes[at(cast)].kind != Kind::Cast || regions_.of_node[at(cast)] >= 0) {
        continue;
      }
      const TensorId source = old_.nodes[at(cast)].inputs.front();
      casts[{regions_.of_node[at(entry.node)], source}].push_back(entry);
    }
    for (const auto& [key, entries] : casts) {
      if (entries.size() < 2) continue;
      for (const Operand& entry : entries) {
        const NodeId cast = producer[at(old_.nodes[at(entry.node)].inputs[entry.input])];
        regions_.of_node[at(cast)] = key.first;
        regions_.entries.erase(entry);
        regions_.entries.insert({cast, 0});
      }
    }
  }

  Shape part(const Shape& whole, const std::optional<AxisFactor>& factor) const {
    return part_of(whole, factor, how_.ranks);
  }

  void split_parameter(TensorId id) {
    if (old_.tensor(id).role != Role::Parameter) return;
    graph_.tensor(id).shape = part(old_.tensor(id).shape, regions_.split[at(id)]);
  }

  TensorId add_tensor(const Shape& shape, DType type) {
    return add_activation(graph_, shape, type);
  }

  static Node exchange(Kind kind, TensorId from, TensorId to, const std::string& scope) {
    return activation_exchange(kind, graph::Among::Tensor, from, to, scope);
  }

  // A value that a region takes, as each of its ranks goes on with it.
  TensorId entry(int region, TensorId id, const std::string& scope) {
    const auto [place, is_new] = entered_.try_emplace({region, id}, -1);
    if (!is_new) return place->second;
    const graph::Tensor& old = old_.tensor(id);
    place->second = add_tensor(old.shape, old.type);
    const std::optional<AxisFactor>& shared = sequence_[at(id)];
    Node node = exchange(shared ? Kind::AllGather : Kind::Identity, id, place->second, scope);
    if (shared) node.attributes.set(Attr::Axis, {Dim(shared->axis)});
    graph_.nodes.push_back(std::move(node));
    return place->second;
  }

  // The whole of a value of which ranks have parts of the sequence, for what all of them compute.
  TensorId whole(TensorId id, const AxisFactor& factor, const std::string& scope) {
    const auto [place, is_new] = gathered_.try_emplace(id, -1);
    if (!is_new) return place->second;
    place->second = add_tensor(old_.tensor(id).shape, old_.tensor(id).type);
    Node node = exchange(Kind::AllGather, id, place->second, scope);
    node.attributes.set(Attr::Axis, {Dim(factor.axis)});
    node.attributes.set(Attr::Of, {Dim(static_cast<std::int64_t>(Kind::Slice))});
    graph_.nodes.push_back(std::move(node));
    return place->second;
  }

  // A rank's own part of a value that all ranks have.
  TensorId own_part(TensorId id, int axis, const std::string& scope) {
    const auto [place, is_new] = own_.try_emplace({id, axis}, -1);
    if (!is_new) return place->second;
    const graph::Tensor& old = old_.tensor(id);
    place->second = add_tensor(part(old.shape, AxisFactor{axis, Dim(1)}), old.type);
    Node node;
    node.kind = Kind::Slice;
    if (is_floating(old.type) && old.role == Role::Activation) {
      node = exchange(Kind::Slice, id, place->second, scope);
    }
    node.inputs = {id};
    node.outputs = {place->second};
    node.scope = scope;
    node.attributes.set(Attr::Axis, {Dim(axis)});
    node.attributes.set(Attr::Start, {Dim(0)});
    node.attributes.set(Attr::End, {Dim(part_of(old.shape[axis], how_.ranks).factor)});
    graph_.nodes.push_back(std::move(node));
    return place->second;
  }

  void add_inside(NodeId id, Node node) {
    const int region = regions_.of_node[at(id)];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      TensorId& input = node.inputs[i];
      const auto own = regions_.own_parts.find({id, i});
      if (own != regions_.own_parts.end()) {
        input = own_part(input, own->second.axis, node.scope);
      } else if (regions_.entries.contains({id, i})) {
        input = entry(region, input, node.scope);
      } else if (sequence_[at(input)]) {
        input = whole(input, *sequence_[at(input)], node.scope);
      }
    }
    const std::optional<AxisFactor>& factor = regions_.split[at(node.outputs.front())];
    if (factor) fit(*factor, node);
    if (regions_.losses.contains(id)) add_loss_statistics(node);
    if (regions_.partial.contains(id)) {
      add_partial(std::move(node));
    } else {
      append_with_shapes(graph_, std::move(node));
    }
  }

  // What attributes, and shapes that are not inferred, say of the whole axis.
  void fit(const AxisFactor& factor, Node& node) {
    fit_attributes(old_.tensor(node.outputs.front()).shape, factor, how_.ranks, node);
    if (graph::op(node).infer != graph::infer_given) return;
    for (const TensorId id : node.outputs) {
      graph_.tensor(id).shape = part(old_.tensor(id).shape, regions_.split[at(id)]);
    }
  }

  // Of each token: the largest logit, the target's, the sum of exponentials.
  // Source: Megatron-LM, core/tensor_parallel/cross_entropy.py.
  void add_loss_statistics(const Node& loss) {
    for (const char* label : {"largest logit", "target's logit", "sum of exponentials"}) {
      Node value;
      value.kind = Kind::Fill;
      value.scope = loss.scope;
      value.label = label;
      value.outputs = {add_tensor(old_.tensor(loss.inputs[1]).shape, DType::F32)};
      const TensorId sum = add_tensor(old_.tensor(loss.inputs[1]).shape, DType::F32);
      graph_.nodes.push_back(value);
      graph_.nodes.push_back(exchange(Kind::AllReduce, value.outputs[0], sum, loss.scope));
    }
  }

  // The sum of what ranks have; a bias is added to it.
  void add_partial(Node node) {
    const TensorId result = node.outputs.front();
    std::optional<TensorId> bias;
    if (node.kind == Kind::Linear && node.inputs.size() > 2) {
      bias = node.inputs[2];
      node.inputs.pop_back();
    }
    const Shape shape = old_.tensor(result).shape;
    const DType type = old_.tensor(result).type;
    const std::string scope = node.scope;
    const TensorId partial = add_tensor(shape, type);
    node.outputs.front() = partial;
    append_with_shapes(graph_, std::move(node));
    if (how_.sequence) sequence_[at(result)] = sequence_axis(shape);
    const std::optional<AxisFactor>& shared = sequence_[at(result)];
    const TensorId sum = bias ? add_tensor(part(shape, shared), type) : result;
    graph_.tensor(result).shape = part(shape, shared);
    Node reduce = exchange(shared ? Kind::ReduceScatter : Kind::AllReduce, partial, sum, scope);
    if (shared) reduce.attributes.set(Attr::Axis, {Dim(shared->axis)});
    graph_.nodes.push_back(std::move(reduce));
    if (!bias) return;
    Node add;
    add.kind = Kind::Add;
    add.inputs = {sum, *bias};
    add.outputs = {result};
    add.scope = scope;
    if (shared) mark_partial(*bias);
    append_with_shapes(graph_, std::move(add));
  }

  // The last axis but one of [..., tokens, features], or tokens of all samples in one axis.
  std::optional<AxisFactor> sequence_axis(const Shape& shape) const {
    if (shape.rank() < 2) return std::nullopt;
    const int axis = shape.rank() - 2;
    const Dim& size = shape[axis];
    if (size.factor % how_.ranks != 0 || size.factor == 0) return std::nullopt;
    if (graph::is_number(size)) {
      if (shape.rank() < 3) return std::nullopt;
      return AxisFactor{axis, Dim(1)};
    }
    if (shape.rank() > 2) return std::nullopt;
    Dim samples = size;
    samples.factor = 1;
    return AxisFactor{axis, samples};
  }

  // A parameter, or a copy of it, of which each rank has a partial sum as gradient.
  void mark_partial(TensorId id) {
    while (graph_.tensor(id).role != Role::Parameter) {
      const auto cast = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& n) {
        return n.kind == Kind::Cast && n.outputs.front() == id;
      });
      if (cast == graph_.nodes.end()) return;
      id = cast->inputs.front();
    }
    graph_.tensor(id).partial_gradient = true;
  }

  void add_outside(Node node) {
    const auto shared = std::find_if(node.inputs.begin(), node.inputs.end(),
                                     [&](TensorId id) { return sequence_[at(id)].has_value(); });
    if (shared == node.inputs.end() ||
        add_shared(node, static_cast<std::size_t>(shared - node.inputs.begin()))) {
      if (shared == node.inputs.end()) append_with_shapes(graph_, std::move(node));
      return;
    }
    for (TensorId& id : node.inputs) {
      if (sequence_[at(id)]) id = whole(id, *sequence_[at(id)], node.scope);
    }
    append_with_shapes(graph_, std::move(node));
  }

  // Each rank computes its part of the sequence, where the operator allows it.
  bool add_shared(Node node, std::size_t first) {
    const AxisFactor factor = *sequence_[at(node.inputs[first])];
    if (node.kind == Kind::Reshape) return add_shared_reshape(std::move(node), factor);
    const std::optional<graph::NodeAxes> axes = graph::axes_of(old_, node);
    if (!axes) return false;
    const graph::AxisName name = axes->inputs[first][at(factor.axis)];
    const auto place_of = [&](const std::vector<graph::AxisName>& names) -> std::optional<int> {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) return std::nullopt;
      return static_cast<int>(found - names.begin());
    };
    const bool kept =
        name != graph::kNoAxis && name != graph::kAttributeAxis &&
        std::find(axes->whole.begin(), axes->whole.end(), name) == axes->whole.end() &&
        place_of(axes->outputs.front());
    if (!kept) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<int> place = place_of(axes->inputs[i]);
      const std::optional<AxisFactor>& own = sequence_[at(node.inputs[i])];
      if (own && (!place || !(*own == AxisFactor{*place, factor.outer}))) return false;
      if (!own && place && !(factor.outer == Dim(1))) return false;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      TensorId& id = node.inputs[i];
      const std::optional<int> place = place_of(axes->inputs[i]);
      if (!place) mark_partial(id);
      if (place && !sequence_[at(id)]) id = own_part(id, *place, node.scope);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (const auto place = place_of(axes->outputs[i])) {
        sequence_[at(node.outputs[i])] = AxisFactor{*place, factor.outer};
      }
    }
    if (node.kind == Kind::Expand) {
      const TensorId id = node.outputs.front();
      fit_attributes(old_.tensor(id).shape, *sequence_[at(id)], how_.ranks, node);
    }
    append_with_shapes(graph_, std::move(node));
    return true;
  }

  bool add_shared_reshape(Node node, const AxisFactor& factor) {
    const Shape& from = old_.tensor(node.inputs.front()).shape;
    const Shape& to = old_.tensor(node.outputs.front()).shape;
    const auto there = graph::through_reshape(from, to, factor);
    if (!there || to[there->axis].factor % how_.ranks != 0) return false;
    sequence_[at(node.outputs.front())] = there;
    fit_attributes(to, *there, how_.ranks, node);
    append_with_shapes(graph_, std::move(node));
    return true;
  }

  // Without a loss somebody wants the results.
  void gather_outputs() {
    if (graph_.loss) return;
    for (TensorId& id : graph_.outputs) {
      const std::optional<AxisFactor> factor =
          regions_.split[at(id)] ? regions_.split[at(id)] : sequence_[at(id)];
      if (factor) id = whole(id, *factor, "");
    }
  }

  const graph::Graph& old_;
  graph::Graph graph_;
  TensorParallel how_;
  TensorRegions regions_;
  std::vector<std::optional<AxisFactor>> sequence_;  // of each tensor: how ranks share it
  std::map<std::pair<int, TensorId>, TensorId> entered_;
  std::map<TensorId, TensorId> gathered_;
  std::map<std::pair<TensorId, int>, TensorId> own_;
};

}  // namespace

graph::Graph split_tensors(const graph::Graph& forward, const TensorParallel& how) {
  return Splitting(forward, how).run();
}

}  // namespace foretrain::parallel
