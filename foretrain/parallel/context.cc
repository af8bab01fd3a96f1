// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/context.h"

#include <map>
#include <string>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/rules.h"
#include "foretrain/parallel/detail/context_parts.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/share_of_flops.h"

namespace foretrain::parallel {
namespace {

using graph::Among;
using graph::Attr;
using graph::AxisFactor;
using graph::Dim;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Role;
using graph::TensorId;

constexpr double kLeastShare = 0.5;  // of a model's GEMMs, below which it is not worth a word

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

class Splitting {
 public:
  Splitting(const graph::Graph& forward, int ranks)
      : old_(forward), graph_(forward), ranks_(ranks), parts_(find_context_parts(forward, ranks)) {}

  graph::Graph run() {
    require_share();
    graph_.nodes.clear();
    for (std::size_t t = 0; t < old_.tensors.size(); ++t) {
      if (old_.tensors[t].role != Role::Input) continue;
      graph_.tensors[t].shape = part_of(old_.tensors[t].shape, parts_.split[t], ranks_);
    }
    for (std::size_t n = 0; n < old_.nodes.size(); ++n) add(static_cast<NodeId>(n));
    gather_outputs();
    graph_.notes.push_back("context parallelism: " + std::to_string(ranks_) +
                           " ranks share each sequence; keys and values of " +
                           std::to_string(parts_.rings.size()) +
                           " attentions go around a ring of them, and each has an early and a late "
                           "chunk of the sequence, so that causal attention is the same work for "
                           "all (zigzag)");
    return std::move(graph_);
  }

 private:
  void require_share() const {
    const std::string context = "strategy: context " + std::to_string(ranks_);
    if (!parts_.indivisible.empty()) {
      throw Error(ErrorKind::BadInput, context + ": the " + parts_.indivisible +
                                           " are not a multiple of " + std::to_string(2 * ranks_) +
                                           ", two chunks for each rank");
    }
    const auto counts = [&](std::size_t n) {
      return parts_.shared.contains(static_cast<NodeId>(n));
    };
    if (share_of_flops(old_, counts) >= kLeastShare) return;
    throw Error(ErrorKind::Unsupported,
                context + ": less than half of the GEMMs of model '" + printable(old_.name) +
                    "' run along a sequence of tokens without sorting it; it is for transformers "
                    "without experts");
  }

  void add(NodeId id) {
    Node node = old_.nodes[at(id)];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      TensorId& input = node.inputs[i];
      const auto gather = parts_.gathers.find({id, i});
      const auto own = parts_.own_parts.find({id, i});
      if (gather != parts_.gathers.end()) {
        input = whole(input, gather->second, node.scope);
      } else if (own != parts_.own_parts.end() && !parts_.split[at(input)]) {
        input = own_part(input, own->second, node.scope);
      }
    }
    if (parts_.rings.contains(id)) make_ring(node);
    const std::optional<AxisFactor>& factor = parts_.split[at(node.outputs.front())];
    const graph::Shape& shape = old_.tensor(node.outputs.front()).shape;
    if (factor) fit_attributes(shape, *factor, ranks_, node);
    if (graph::op(node).infer == graph::infer_given) {
      for (const TensorId output : node.outputs) {
        graph_.tensor(output).shape =
            part_of(old_.tensor(output).shape, parts_.split[at(output)], ranks_);
      }
    }
    append_with_shapes(graph_, std::move(node));
  }

  // A block of scores needs what is added to it, not to those of all keys.
  void make_ring(Node& node) {
    node.attributes.set(Attr::Among, {Dim(static_cast<std::int64_t>(Among::Context))});
    if (node.inputs.size() < 4) return;
    const TensorId bias = node.inputs[3];
    const graph::Shape shape = old_.tensor(bias).shape;
    const std::optional<AxisFactor> shared = parts_.split[at(bias)];
    for (const int axis : {shape.rank() - 2, shape.rank() - 1}) {
      if (axis < 0 || shape[axis] == Dim(1) || (shared && shared->axis == axis)) continue;
      node.inputs[3] = own_part(node.inputs[3], axis, node.scope);
    }
  }

  TensorId whole(TensorId id, Gathered how, const std::string& scope) {
    const auto [place, is_new] = gathered_.try_emplace({id, how}, -1);
    if (!is_new) return place->second;
    const graph::Tensor& old = old_.tensor(id);
    place->second = add_activation(graph_, old.shape, old.type);
    Node node = activation_exchange(Kind::AllGather, Among::Context, id, place->second, scope);
    node.attributes.set(Attr::Axis, {Dim(parts_.split[at(id)]->axis)});
    if (how == Gathered::Same) {
      node.attributes.set(Attr::Of, {Dim(static_cast<std::int64_t>(Kind::Slice))});
    }
    graph_.nodes.push_back(std::move(node));
    return place->second;
  }

  // Gradients of what all ranks computed alike are put together.
  TensorId own_part(TensorId id, int axis, const std::string& scope) {
    const auto [place, is_new] = own_.try_emplace({id, axis}, -1);
    if (!is_new) return place->second;
    const graph::Tensor tensor = graph_.tensor(id);
    place->second = add_activation(graph_, part_of(tensor.shape, AxisFactor{axis, Dim(1)}, ranks_),
                                   tensor.type);
    Node node;
    node.kind = Kind::Slice;
    if (is_floating(tensor.type) && tensor.role == Role::Activation) {
      node = activation_exchange(Kind::Slice, Among::Context, id, place->second, scope);
    }
    node.inputs = {id};
    node.outputs = {place->second};
    node.scope = scope;
    node.attributes.set(Attr::Axis, {Dim(axis)});
    node.attributes.set(Attr::Start, {Dim(0)});
    node.attributes.set(Attr::End, {Dim(part_of(tensor.shape[axis], ranks_).factor)});
    graph_.nodes.push_back(std::move(node));
    return place->second;
  }

  // Without a loss somebody wants the results.
  void gather_outputs() {
    if (graph_.loss) return;
    for (TensorId& id : graph_.outputs) {
      if (parts_.split[at(id)]) id = whole(id, Gathered::Same, "");
    }
  }

  const graph::Graph& old_;
  graph::Graph graph_;
  int ranks_;
  ContextParts parts_;
  std::map<std::pair<TensorId, Gathered>, TensorId> gathered_;
  std::map<std::pair<TensorId, int>, TensorId> own_;
};

}  // namespace

graph::Graph split_context(const graph::Graph& forward, int ranks) {
  return Splitting(forward, ranks).run();
}

}  // namespace foretrain::parallel
