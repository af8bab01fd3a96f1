// SPDX-License-Identifier: Apache-2.0
// Which axes of a node's tensors belong together: what `Op::axes` says of its operator, for the
// shapes and attributes of one node.
#pragma once

#include <optional>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Axes of one node that have the same name have the same size and are split together.
using AxisName = int;
inline constexpr AxisName kNoAxis = -1;          // broadcast: one value for all of another tensor's
inline constexpr AxisName kAttributeAxis = 256;  // the one that the attribute Axis names

struct NodeAxes {
  std::vector<std::vector<AxisName>> inputs;   // of each input: one for each of its axes
  std::vector<std::vector<AxisName>> outputs;  // likewise; empty where nothing is said
  std::vector<AxisName> whole;                 // that cannot be split
};

// None where nothing is known of the operator or its tensors have other ranks; reshapes have
// `through_reshape`.
std::optional<NodeAxes> axes_of(const Graph& graph, const Node& node);

// A factor of an axis: axis = outer * factor * inner. Of an axis that is one factor `outer` is 1;
// of heads that were merged with the batch before them, it is the batch.
struct AxisFactor {
  int axis = 0;
  Dim outer{1};
  bool operator==(const AxisFactor&) const = default;
};

// Where a factor of one shape lies in another one that has the same values in the same order.
std::optional<AxisFactor> through_reshape(const Shape& from, const Shape& to,
                                          const AxisFactor& factor);

}  // namespace foretrain::graph
