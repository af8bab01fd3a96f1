// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/builder.h"

#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"

namespace foretrain::graph {
namespace {

// The floating-point type that all inputs can be promoted to; where none is, the first's.
DType widest(const Graph& graph, const std::vector<TensorId>& inputs) {
  DType type = inputs.empty() ? DType::F32 : graph.tensor(inputs.front()).type;
  for (const TensorId id : inputs) {
    const DType other = graph.tensor(id).type;
    if (!is_floating(other)) continue;
    if (!is_floating(type) || bytes_of(other) > bytes_of(type)) type = other;
  }
  return type;
}

// The type of output `i`.
DType output_type(const Graph& graph, const Node& node, std::size_t i) {
  const DType type = widest(graph, node.inputs);
  switch (node.kind) {
    case Kind::Cast:
    case Kind::Dequantize:
      return static_cast<DType>(node.attributes.number(Attr::Type, 0));
    case Kind::Compare:
      return DType::Bool;
    case Kind::ArgMax:
      return DType::I64;
    case Kind::MaxPool:
    case Kind::TopK:
      return i == 0 ? type : DType::I64;
    case Kind::Dropout:
      return i == 0 ? type : DType::Bool;
    case Kind::BatchNorm:
    case Kind::LayerNorm:
    case Kind::RmsNorm:
    case Kind::GroupNorm:
    case Kind::Attention:
      return i == 0 ? graph.tensor(node.inputs.front()).type : DType::F32;
    case Kind::CrossEntropy:
    case Kind::PointwiseLoss:
      return type == DType::F64 ? type : DType::F32;
    case Kind::Reshape:
    case Kind::Transpose:
    case Kind::Slice:
    case Kind::Split:
    case Kind::Expand:
    case Kind::Identity:
    case Kind::Detach:
    case Kind::Contiguous:
    case Kind::Gather:
      return graph.tensor(node.inputs.front()).type;
    default:
      return type;
  }
}

}  // namespace

std::vector<TensorId> append(Graph& graph, Node node) {
  std::vector<Shape> inputs;
  inputs.reserve(node.inputs.size());
  for (const TensorId id : node.inputs) inputs.push_back(graph.tensor(id).shape);
  std::vector<Shape> shapes;
  try {
    shapes = op(node).infer(node, inputs);
    for (const Shape& shape : shapes) elements(shape);  // throws where there are too many
  } catch (const Error& error) {
    throw Error(error.kind(), "model '" + printable(graph.name) + "', node '" +
                                  printable(node.scope) + "' (" + printable(describe(node)) +
                                  "): " + error.what());
  }
  node.outputs.clear();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Tensor tensor;
    tensor.shape = shapes[i];
    tensor.type = output_type(graph, node, i);
    tensor.role = node.phase == Phase::Forward ? Role::Activation : Role::Gradient;
    node.outputs.push_back(static_cast<TensorId>(graph.tensors.size()));
    graph.tensors.push_back(std::move(tensor));
  }
  std::vector<TensorId> outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  return outputs;
}

TensorId append_one(Graph& graph, Kind kind, std::vector<TensorId> inputs, const std::string& scope,
                    Attributes attributes) {
  Node node;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.scope = scope;
  node.attributes = std::move(attributes);
  return append(graph, std::move(node)).front();
}

Builder::Builder(std::string name) { graph_.name = std::move(name); }

std::string Builder::path(const std::string& name) const {
  std::string path;
  for (const std::string& scope : scopes_) path += scope + ".";
  if (!name.empty()) return path + name;
  if (!path.empty()) path.pop_back();
  return path;
}

TensorId Builder::input(const std::string& name, const Shape& shape, DType type) {
  graph_.tensors.push_back({name, shape, type, Role::Input, false});
  return static_cast<TensorId>(graph_.tensors.size()) - 1;
}

TensorId Builder::parameter(const std::string& name, const Shape& shape) {
  graph_.tensors.push_back({path(name), shape, DType::F32, Role::Parameter, true});
  return static_cast<TensorId>(graph_.tensors.size()) - 1;
}

TensorId Builder::buffer(const std::string& name, const Shape& shape, DType type) {
  graph_.tensors.push_back({path(name), shape, type, Role::Buffer, false});
  return static_cast<TensorId>(graph_.tensors.size()) - 1;
}

TensorId Builder::add(Kind kind, const std::vector<TensorId>& inputs,
                      const Attributes& attributes) {
  return add_all(kind, inputs, attributes).front();
}

std::vector<TensorId> Builder::add_all(Kind kind, const std::vector<TensorId>& inputs,
                                       const Attributes& attributes) {
  Node node;
  node.kind = kind;
  node.inputs = inputs;
  node.attributes = attributes;
  node.scope = path("");
  return append(graph_, std::move(node));
}

void Builder::enter(const std::string& scope) { scopes_.push_back(scope); }
void Builder::leave() {
  if (!scopes_.empty()) scopes_.pop_back();  // a finished builder has none, though a Scope lives
}

Graph Builder::finish() {
  scopes_.clear();
  return std::exchange(graph_, Graph{});
}

}  // namespace foretrain::graph
