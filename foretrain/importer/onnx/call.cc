// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/call.h"

#include <algorithm>
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/importer/ftg/ftg_file.h"
#include "foretrain/importer/onnx/names.h"

namespace foretrain::importer {
namespace {

using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

// Inside a function an attribute may be one of the call's, which may be one of its caller's.
const OnnxAttribute* resolve(const OnnxScope& scope, const OnnxAttribute& attribute) {
  if (attribute.refers_to.empty()) return &attribute;
  if (scope.arguments != nullptr) {
    for (const OnnxAttribute& argument : *scope.arguments) {
      if (argument.name != attribute.refers_to) continue;
      return scope.caller == nullptr ? &argument : resolve(*scope.caller, argument);
    }
  }
  if (scope.defaults != nullptr) {
    for (const OnnxAttribute& usual : *scope.defaults) {
      if (usual.name == attribute.refers_to) return &usual;
    }
  }
  return nullptr;
}

// What a node and its tensors take.
void pay(OnnxTranslation& all, const graph::Node& node, std::size_t outputs) {
  std::size_t bytes = sizeof(graph::Node) + node.scope.size() + node.label.size() +
                      node.inputs.size() * sizeof(TensorId) +
                      outputs * (sizeof(graph::Tensor) + sizeof(TensorId));
  for (const graph::Attribute& attribute : node.attributes.list()) {
    bytes += sizeof(graph::Attribute) + attribute.values.size() * sizeof(Dim);
  }
  all.budget.spend(bytes);
}

void require_room(const OnnxTranslation& all) {
  if (all.graph.tensors.size() > kMostTensors) {
    throw Error(ErrorKind::BadInput, "the graph has more than 2,000,000 tensors");
  }
}

// What only depends on constants is constant: it is computed once, before training.
bool is_constant(const OnnxTranslation& all, const graph::Node& node) {
  return node.kind != Kind::Dropout && !node.inputs.empty() &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](TensorId id) { return all.graph.tensor(id).role == graph::Role::Buffer; });
}

}  // namespace

std::int64_t OnnxCall::version() const {
  if (scope_.opsets != nullptr) {
    for (const OnnxOpset& opset : *scope_.opsets) {
      if (opset.domain == node_.domain) return opset.version;
    }
  }
  return 1;
}

const OnnxAttribute* OnnxCall::attribute(std::string_view name) const {
  for (const OnnxAttribute& attribute : node_.attributes) {
    if (attribute.name == name) return resolve(scope_, attribute);
  }
  return nullptr;
}

std::int64_t OnnxCall::integer(std::string_view name, std::int64_t otherwise) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr ? otherwise : found->integer.value_or(otherwise);
}

double OnnxCall::real(std::string_view name, double otherwise) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr ? otherwise : found->real.value_or(otherwise);
}

std::string_view OnnxCall::text(std::string_view name, std::string_view otherwise) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr ? otherwise : found->text.value_or(otherwise);
}

std::vector<std::int64_t> OnnxCall::integers(std::string_view name) const {
  const OnnxAttribute* found = attribute(name);
  if (found == nullptr) return {};
  all_.budget.spend(found->integers.size() *
                    sizeof(std::int64_t));  // a function's may be the call's
  return found->integers;
}

bool OnnxCall::has(int i) const {
  if (i < 0 || i >= inputs()) return false;
  const std::string_view name = node_.inputs[static_cast<std::size_t>(i)];
  const auto found = scope_.values.find(name);
  const bool left_out = found != scope_.values.end() && found->second == nullptr;
  return !name.empty() && !left_out;
}

OnnxValue& OnnxCall::in(int i) const {
  if (!has(i)) fail("needs at least " + std::to_string(i + 1) + " inputs");
  const std::string_view name = node_.inputs[static_cast<std::size_t>(i)];
  OnnxValue* value = find_value(scope_, name);
  if (value == nullptr) {
    fail("reads '" + printable(name) +
         "' before any node writes it; nodes must be in execution order, without cycles");
  }
  return *value;
}

const Scalar* OnnxCall::uniform(int i) const {
  if (!has(i)) return nullptr;
  const OnnxValue& value = in(i);
  if (value.known == OnnxValue::Known::Nothing || value.content.size() != 1) return nullptr;
  return &value.content.front();
}

std::vector<std::int64_t> OnnxCall::numbers(int i) const {
  std::vector<std::int64_t> result;
  for (const Dim& size : sizes(i)) {
    if (!is_number(size)) {
      fail_unsupported("input " + std::to_string(i) + " ('" + printable(in(i).name) +
                       "') must not depend on a symbol; give the symbol a value");
    }
    result.push_back(size.factor);
  }
  return result;
}

std::vector<Dim> OnnxCall::sizes(int i) const {
  const OnnxValue& value = in(i);
  const std::string what = "input " + std::to_string(i) + " ('" + printable(value.name) + "') ";
  if (value.known != OnnxValue::Known::All) {
    fail_unsupported(what + "is not known before the model runs; shapes must not depend on data");
  }
  all_.budget.spend(value.content.size() * sizeof(Dim));
  std::vector<Dim> result;
  for (const Scalar& scalar : value.content) {
    const std::optional<Dim> size = scalar.dim();
    if (!size)
      fail_unsupported(what + "is a sum of symbols or no whole number; give the symbols values");
    result.push_back(*size);
  }
  return result;
}

std::vector<double> OnnxCall::reals(int i) const {
  const OnnxValue& value = in(i);
  const bool is_stored = value.stored != nullptr && !value.stored->reals.empty();
  all_.budget.spend(sizeof(double) *
                    (is_stored ? value.stored->reals.size() : value.content.size()));
  if (is_stored) return value.stored->reals;
  std::vector<double> result;
  if (value.known != OnnxValue::Known::All) return result;
  for (const Scalar& scalar : value.content) {
    if (!scalar.number()) return {};
    result.push_back(*scalar.number());
  }
  return result;
}

std::vector<std::int64_t> OnnxCall::listed(std::string_view name, int i) const {
  return has(i) ? numbers(i) : integers(name);
}

int OnnxCall::axis(std::int64_t axis, int rank) const {
  const std::int64_t front = axis < 0 ? axis + rank : axis;
  if (front < 0 || front >= rank) {
    fail("axis " + std::to_string(axis) + " lies outside a tensor of rank " + std::to_string(rank));
  }
  return static_cast<int>(front);
}

int OnnxCall::axis_attribute(std::string_view name, std::int64_t otherwise, int rank) const {
  return axis(integer(name, otherwise), rank);
}

TensorId OnnxCall::tensor(int i) const { return tensor_of(*this, in(i)); }
TensorId OnnxCall::weight(int i) const { return weight_of(*this, in(i)); }

std::vector<TensorId> OnnxCall::emit_all(Kind kind, std::vector<TensorId> inputs,
                                         graph::Attributes attributes) const {
  graph::Node node;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.scope = path();
  const bool constant = is_constant(all_, node);
  std::vector<Shape> shapes;
  for (const TensorId id : node.inputs) shapes.push_back(shape_of(id));
  // Here too, so that its message stands alone; append() adds to it.
  pay(all_, node, op(node).infer(node, shapes).size());
  const std::vector<TensorId> outputs = append(all_.graph, std::move(node));
  require_room(all_);
  if (constant) {
    all_.graph.nodes.pop_back();
    for (const TensorId id : outputs) all_.graph.tensor(id).role = graph::Role::Buffer;
  }
  return outputs;
}

TensorId OnnxCall::emit(Kind kind, std::vector<TensorId> inputs,
                        graph::Attributes attributes) const {
  return emit_all(kind, std::move(inputs), std::move(attributes)).front();
}

TensorId OnnxCall::reshape(TensorId id, const Shape& shape) const {
  if (shape_of(id) == shape) return id;
  const std::vector<Dim> target(shape.dims().begin(), shape.dims().end());
  return emit(Kind::Reshape, {id}, {{graph::Attr::Shape, target}});
}

TensorId OnnxCall::transpose(TensorId id, const std::vector<int>& order) const {
  if (std::is_sorted(order.begin(), order.end())) return id;
  const std::vector<Dim> axes(order.begin(), order.end());
  return emit(Kind::Transpose, {id}, {{graph::Attr::Axes, axes}});
}

std::vector<TensorId> OnnxCall::emit_opaque(std::vector<TensorId> inputs,
                                            const std::vector<Shape>& shapes, DType type) const {
  graph::Node node;
  node.kind = Kind::Opaque;
  node.label = std::string(node_.op_type);
  node.inputs = std::move(inputs);
  node.scope = path();
  pay(all_, node, shapes.size());
  const bool constant = is_constant(all_, node);
  for (const Shape& shape : shapes) {
    for (const Dim& dim : shape.dims()) {
      if (dim.factor < 1) fail_unsupported("a tensor without elements");
    }
    elements(shape);  // throws where there are too many
    const auto role = constant ? graph::Role::Buffer : graph::Role::Activation;
    all_.graph.tensors.push_back({"", shape, type, role, false});
    node.outputs.push_back(static_cast<TensorId>(all_.graph.tensors.size()) - 1);
  }
  require_room(all_);
  const std::vector<TensorId> outputs = node.outputs;
  if (!constant) all_.graph.nodes.push_back(std::move(node));
  return outputs;
}

const std::string& OnnxCall::path() const {
  if (!path_) path_ = layer_path(scope_, node_);
  return *path_;
}

}  // namespace foretrain::importer
