// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

void freeze(Graph& model) {
  for (Tensor& tensor : model.tensors) tensor.trainable = false;
}

bool multiplies(const Node& node) {
  const Family family = op(node).family;
  return family == Family::Matrix || family == Family::Convolution || family == Family::Recurrent;
}

// Whether the node reads weights, which then train: parameters, or rows looked up in them.
bool train_weights(Graph& model, const std::vector<const Node*>& producers, const Node& node) {
  bool found = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    TensorId id = node.inputs[i];
    const Node* producer = i == 0 ? nullptr : producers[static_cast<std::size_t>(id)];
    if (producer != nullptr && producer->kind == Kind::Embedding) id = producer->inputs[1];
    if (producer != nullptr && producer->kind == Kind::Gather) id = producer->inputs[0];
    Tensor& tensor = model.tensor(id);
    if (tensor.role != Role::Parameter || !is_floating(tensor.type)) continue;
    tensor.trainable = true;
    found = true;
  }
  return found;
}

Graph only_head(Graph model) {
  freeze(model);
  std::vector<const Node*> producers(model.tensors.size(), nullptr);
  for (const Node& node : model.nodes) {
    for (const TensorId id : node.outputs) producers[static_cast<std::size_t>(id)] = &node;
  }
  for (std::size_t n = model.nodes.size(); n-- > 0;) {
    const Node& node = model.nodes[n];
    if (multiplies(node) && train_weights(model, producers, node)) return model;
  }
  throw Error(ErrorKind::BadInput,
              "trainable=head: model '" + model.name +
                  "' has no GEMM, convolution or recurrent layer with parameters");
}

TensorId parameter(Graph& graph, const std::string& name, const Shape& shape) {
  graph.tensors.push_back({name, shape, DType::F32, Role::Parameter, true});
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

TensorId add(Graph& graph, Kind kind, std::vector<TensorId> inputs, const std::string& scope) {
  Node node;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.scope = scope;
  return append(graph, std::move(node)).front();
}

// y = x w' + scale (x a') b', with a and b of `rank` rows and columns.
Graph with_lora(Graph model, std::int64_t rank) {
  freeze(model);
  Rewrite rewrite(model);
  for (const Node& node : model.nodes) {
    rewrite.keep(node);
    if (node.kind != Kind::Linear) continue;
    Graph& graph = rewrite.graph();
    const TensorId x = rewrite.now(node.inputs[0]);
    const Shape weight = graph.tensor(rewrite.now(node.inputs[1])).shape;
    const TensorId a = parameter(graph, node.scope + ".lora_A.weight", Shape{Dim(rank), weight[1]});
    const TensorId b = parameter(graph, node.scope + ".lora_B.weight", Shape{weight[0], Dim(rank)});
    const std::string scope = node.scope + ".lora";
    const TensorId thin = add(graph, Kind::Linear, {x, a}, scope);
    const TensorId wide =
        add(graph, Kind::Scale, {add(graph, Kind::Linear, {thin, b}, scope)}, scope);
    const TensorId base = rewrite.now(node.outputs[0]);
    rewrite.becomes(node.outputs[0], add(graph, Kind::Add, {base, wide}, scope));
  }
  return rewrite.finish();
}

}  // namespace

Trainable parse_trainable(const std::string& text) {
  using enum Trainable::Part;
  const std::string lora = "lora:rank=";
  if (text == "all") return {All, 0};
  if (text == "head") return {Head, 0};
  std::int64_t rank = 0;
  if (text.starts_with(lora)) {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + lora.size(), end, rank);
    if (parsed.ec == std::errc{} && parsed.ptr == end && rank >= 1 && rank <= 65536) {
      return {Lora, rank};
    }
  }
  throw Error(ErrorKind::BadInput,
              "trainable '" + printable(text) + "' is not known; use all, head or lora:rank=16");
}

Graph set_trainable(Graph model, const Trainable& what) {
  require_forward(model);
  switch (what.part) {
    case Trainable::Part::All:
      return model;
    case Trainable::Part::Head:
      return only_head(std::move(model));
    case Trainable::Part::Lora:
      break;
  }
  return with_lora(std::move(model), what.rank);
}

}  // namespace foretrain::graph
