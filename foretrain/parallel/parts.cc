// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/parts.h"

#include <utility>
#include <vector>

#include "foretrain/graph/rules.h"

namespace foretrain::parallel {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;

Dim part_of(const Dim& size, int ranks) {
  Dim own = size;
  own.factor = (size.factor + ranks - 1) / ranks;
  return own;
}

Shape part_of(const Shape& whole, const std::optional<graph::AxisFactor>& factor, int ranks) {
  Shape own = whole;
  if (factor) own[factor->axis] = part_of(whole[factor->axis], ranks);
  return own;
}

void fit_attributes(const Shape& whole, const graph::AxisFactor& factor, int ranks,
                    graph::Node& node) {
  if (node.kind == Kind::Reshape || node.kind == Kind::Expand) {
    const Shape own = part_of(whole, factor, ranks);
    node.attributes.set(Attr::Shape, {own.dims().begin(), own.dims().end()});
  }
  const bool along = (node.kind == Kind::Split || node.kind == Kind::Slice) &&
                     graph::axis_of(node, whole, 0) == factor.axis;
  if (!along) return;
  for (const Attr key : {Attr::Sizes, Attr::Start, Attr::End}) {
    const std::vector<Dim>* values = node.attributes.find(key);
    if (values == nullptr) continue;
    std::vector<Dim> own;
    own.reserve(values->size());
    for (const Dim& value : *values) own.push_back(part_of(value, ranks));
    node.attributes.set(key, std::move(own));
  }
}

graph::TensorId add_activation(graph::Graph& graph, const Shape& shape, DType type) {
  graph::Tensor tensor;
  tensor.shape = shape;
  tensor.type = type;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<graph::TensorId>(graph.tensors.size()) - 1;
}

graph::Node activation_exchange(Kind kind, graph::Among among, graph::TensorId from,
                                graph::TensorId to, const std::string& scope) {
  graph::Node node;
  node.kind = kind;
  node.inputs = {from};
  node.outputs = {to};
  node.scope = scope;
  node.attributes.set(Attr::Among, {Dim(static_cast<std::int64_t>(among))});
  node.attributes.set(Attr::EveryPass, {Dim(1)});
  node.attributes.set(Attr::Waiting, {Dim(static_cast<std::int64_t>(graph::Waiting::Device))});
  if (kind == Kind::AllReduce) node.attributes.set(Attr::Inplace, {Dim(1)});
  return node;
}

}  // namespace foretrain::parallel
