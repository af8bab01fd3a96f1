// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Values of symbols by name.
using Binding = std::vector<std::pair<std::string, std::int64_t>>;

// A graph with the numbers that its symbols stand for. Refers to the graph.
struct Bound {
  const Graph* graph = nullptr;
  std::vector<Extent> extents;   // of each tensor
  std::vector<double> elements;  // likewise

  const Extent& extent(TensorId id) const { return extents[static_cast<std::size_t>(id)]; }
  double count(TensorId id) const { return elements[static_cast<std::size_t>(id)]; }
  double bytes(TensorId id) const { return count(id) * bytes_of(graph->tensor(id).type); }
};

// Replaces symbols by numbers. Throws Error(BadInput) for a symbol without a value, a value
// below 1, or a tensor beyond 2^48 elements.
Bound bind(const Graph& graph, const Binding& binding);

// One node of a bound graph, as counts and costs see it.
struct NodeView {
  const Bound& bound;
  const Node& node;

  const Extent& in(int i) const { return bound.extent(input(i)); }
  const Extent& out(int i) const { return bound.extent(output(i)); }
  double in_count(int i) const { return bound.count(input(i)); }
  double out_count(int i) const { return bound.count(output(i)); }
  double in_bytes(int i) const { return bound.bytes(input(i)); }
  double out_bytes(int i) const { return bound.bytes(output(i)); }
  DType in_type(int i) const { return bound.graph->tensor(input(i)).type; }
  DType out_type(int i) const { return bound.graph->tensor(output(i)).type; }
  int inputs() const { return static_cast<int>(node.inputs.size()); }
  int outputs() const { return static_cast<int>(node.outputs.size()); }
  std::int64_t attr(Attr key, std::int64_t otherwise) const {
    return node.attributes.number(key, otherwise);
  }

 private:
  TensorId input(int i) const { return node.inputs[static_cast<std::size_t>(i)]; }
  TensorId output(int i) const { return node.outputs[static_cast<std::size_t>(i)]; }
};

}  // namespace foretrain::graph
