// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/backward.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/detail/dequantize.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

constexpr TensorId kNone = -1;

std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }

// Communication may be there: that of a part of a model.
void require_no_backward(const Graph& graph) {
  const bool forward = std::all_of(graph.nodes.begin(), graph.nodes.end(),
                                   [](const Node& node) { return node.phase == Phase::Forward; });
  if (forward && graph.gradients.empty()) return;
  throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) +
                                       "' has a backward pass already; give its forward pass");
}

// Tensors of another stage that learns, too.
bool learns_elsewhere(const Node& node) {
  return node.kind == Kind::Receive && node.attributes.number(Attr::Frozen, 0) == 0;
}

TensorId new_tensor_like(Graph& graph, TensorId like) {
  Tensor tensor;
  tensor.shape = graph.tensor(like).shape;
  tensor.type = graph.tensor(like).type;
  tensor.role = Role::Gradient;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

void start(Graph& graph, std::vector<TensorId>& gradients, TensorId id) {
  Node node;
  node.kind = Kind::Fill;
  node.phase = Phase::Backward;
  node.scope = "loss";
  node.outputs = {new_tensor_like(graph, id)};
  gradients.resize(graph.tensors.size(), kNone);
  gradients[at(id)] = node.outputs.front();
  graph.nodes.push_back(std::move(node));
}

// The gradients of last step are zeroed before the forward pass and added to as soon as the
// new ones are there.
void accumulate_into_old(Graph& graph) {
  Node zero;
  zero.kind = Kind::ZeroGrad;
  zero.phase = Phase::Update;
  zero.scope = "zero_grad";
  std::vector<Node> additions;
  std::unordered_multimap<TensorId, std::size_t> after;  // of each gradient
  for (auto& [parameter, gradient] : graph.gradients) {
    Node add;
    add.kind = Kind::Add;
    add.phase = Phase::Backward;
    add.scope = graph.tensor(parameter).name;
    add.label = "accumulate";
    add.inputs = {new_tensor_like(graph, parameter), gradient};
    add.outputs = {new_tensor_like(graph, parameter)};
    add.attributes.set(Attr::Inplace, {Dim(1)});
    zero.inputs.push_back(add.inputs.front());
    after.emplace(gradient, additions.size());
    gradient = add.outputs.front();
    additions.push_back(std::move(add));
  }
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes.size() + additions.size() + 1);
  nodes.push_back(std::move(zero));
  for (Node& node : graph.nodes) {
    const std::vector<TensorId> outputs = node.outputs;
    nodes.push_back(std::move(node));
    for (const TensorId id : outputs) {
      const auto [first, last] = after.equal_range(id);
      for (auto found = first; found != last; ++found) {
        nodes.push_back(std::move(additions[found->second]));
      }
    }
  }
  graph.nodes = std::move(nodes);
}

// Operators of several outputs have one that carries the gradient, the first; the others are
// kept for the backward pass (statistics, masks, indices).
bool gradient_arrived(const GradientContext& context) {
  const Kind kind = context.node().kind;
  if (kind == Kind::Send) return context.node().attributes.number(Attr::Frozen, 0) == 0;
  if (kind != Kind::Split && kind != Kind::Opaque && kind != Kind::Receive) {
    return context.arrived(0);
  }
  for (int i = 0; i < context.outputs(); ++i) {
    if (context.arrived(i)) return true;
  }
  return false;
}

}  // namespace

GradientContext::GradientContext(Graph& graph, Node node, const std::vector<bool>& needed,
                                 std::vector<TensorId>& gradients)
    : graph_(graph), node_(std::move(node)), needed_(needed), gradients_(gradients) {}

bool GradientContext::needs(int i) const {
  return i < inputs() && needed_[at(in(i))] && is_floating(graph_.tensor(in(i)).type);
}

bool GradientContext::arrived(int i) const {
  return i < outputs() && gradients_[at(out(i))] != kNone;
}

TensorId GradientContext::gradient(int i) const { return gradients_[at(out(i))]; }

std::vector<TensorId> GradientContext::emit(Kind kind, std::vector<TensorId> inputs,
                                            const std::vector<TensorId>& like,
                                            Attributes attributes) {
  Node node;
  node.kind = kind;
  node.phase = Phase::Backward;
  node.scope = node_.scope;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (const TensorId id : like) node.outputs.push_back(new_tensor_like(graph_, id));
  std::vector<TensorId> outputs = node.outputs;
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

TensorId GradientContext::emit_one(Kind kind, std::vector<TensorId> inputs, TensorId like,
                                   Attributes attributes) {
  return emit(kind, std::move(inputs), {like}, std::move(attributes)).front();
}

TensorId GradientContext::infer(Kind kind, std::vector<TensorId> inputs, Attributes attributes) {
  Node node;
  node.kind = kind;
  node.phase = Phase::Backward;
  node.scope = node_.scope;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return append(graph_, std::move(node)).front();
}

void GradientContext::give(int i, TensorId gradient) {
  if (!needs(i)) return;
  const TensorId target = in(i);
  if (!(shape(gradient) == shape(target))) gradient = emit_one(Kind::SumTo, {gradient}, target);
  if (graph_.tensor(gradient).type != graph_.tensor(target).type) {
    const auto type = static_cast<std::int64_t>(graph_.tensor(target).type);
    gradient = emit_one(Kind::Cast, {gradient}, target, {{Attr::Type, {Dim(type)}}});
  }
  gradients_.resize(graph_.tensors.size(), kNone);
  TensorId& sum = gradients_[at(target)];
  if (sum != kNone) {
    gradient = emit_one(Kind::Add, {sum, gradient}, target);
    gradients_.resize(graph_.tensors.size(), kNone);
  }
  gradients_[at(target)] = gradient;
}

std::vector<bool> needed_gradients(const Graph& graph) {
  std::vector<bool> needed(graph.tensors.size(), false);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) needed[t] = graph.tensors[t].trainable;
  for (const Node& node : graph.nodes) {
    if (op(node).gradient == nullptr) continue;
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                 [&](TensorId id) { return needed[at(id)]; });
    if (!any && !learns_elsewhere(node)) continue;
    for (const TensorId id : node.outputs) {
      if (is_floating(graph.tensor(id).type)) needed[at(id)] = true;
    }
  }
  return needed;
}

Graph backward(Graph graph, GradientHandling handling, const Recomputation& recomputation) {
  require_no_backward(graph);
  const std::vector<Checkpoint> checkpoints = find_checkpoints(graph, recomputation);
  if (recomputation.what != Recompute::None) {
    graph.notes.push_back(describe_checkpoints(graph, recomputation.what, checkpoints));
  }
  const std::vector<bool> needed = needed_gradients(graph);
  std::vector<TensorId> gradients(graph.tensors.size(), kNone);
  const std::size_t forward = graph.nodes.size();
  if (graph.loss) {
    start(graph, gradients, *graph.loss);
  } else {
    for (const TensorId id : graph.outputs) start(graph, gradients, id);
  }
  std::vector<NodeId> origins(graph.nodes.size(), kNone);  // of each node
  for (std::size_t i = forward; i-- > 0;) {
    if (op(graph.nodes[i]).gradient == nullptr) continue;
    GradientContext context(graph, graph.nodes[i], needed, gradients);
    bool wanted = learns_elsewhere(context.node());
    for (int k = 0; k < context.inputs(); ++k) wanted = wanted || context.needs(k);
    if (wanted && gradient_arrived(context)) op(context.node()).gradient(context);
    origins.resize(graph.nodes.size(), static_cast<NodeId>(i));
  }
  for (std::size_t t = 0; t < needed.size(); ++t) {
    if (graph.tensors[t].trainable && gradients[t] != kNone) {
      graph.gradients.emplace_back(static_cast<TensorId>(t), gradients[t]);
    }
  }
  if (!checkpoints.empty()) {
    graph = recompute(std::move(graph), checkpoints, origins, recomputation.to_the_end);
  }
  graph = dequantize_again(std::move(graph));
  if (handling == GradientHandling::Accumulate) accumulate_into_old(graph);
  return graph;
}

std::vector<ParameterGradient> parameter_gradients(const Graph& step) {
  std::vector<NodeId> producer(step.tensors.size(), 0);
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    for (const TensorId id : step.nodes[n].outputs) producer[at(id)] = static_cast<NodeId>(n);
  }
  std::vector<ParameterGradient> result;
  result.reserve(step.gradients.size());
  for (const auto& [parameter, gradient] : step.gradients) {
    result.push_back({parameter, gradient, producer[at(gradient)]});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.ready < b.ready; });
  return result;
}

}  // namespace foretrain::graph
