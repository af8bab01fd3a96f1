// SPDX-License-Identifier: Apache-2.0
// What each of several ranks has of a tensor that they share, and what they exchange.
#pragma once

#include <optional>
#include <string>

#include "foretrain/graph/axes.h"
#include "foretrain/graph/graph.h"

namespace foretrain::parallel {

// An input of a node.
struct Operand {
  graph::NodeId node = 0;
  std::size_t input = 0;
  auto operator<=>(const Operand&) const = default;
};

// One of `ranks` parts of an axis, rounded up, and of a shape along the axis of `factor`.
graph::Dim part_of(const graph::Dim& size, int ranks);
graph::Shape part_of(const graph::Shape& whole, const std::optional<graph::AxisFactor>& factor,
                     int ranks);

// Makes the attributes of a node that speak of the whole axis speak of a rank's part. `whole` is
// the shape of its first output before the split along `factor`.
void fit_attributes(const graph::Shape& whole, const graph::AxisFactor& factor, int ranks,
                    graph::Node& node);

graph::TensorId add_activation(graph::Graph& graph, const graph::Shape& shape, DType type);

// A collective of activations: it runs in every pass, and the device waits for it.
graph::Node activation_exchange(graph::Kind kind, graph::Among among, graph::TensorId from,
                                graph::TensorId to, const std::string& scope);

}  // namespace foretrain::parallel
