// SPDX-License-Identifier: Apache-2.0
// What the tests of models ask of a graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "foretrain/graph/op.h"

namespace foretrain::zoo {

// FLOPs of the forward pass's products; a multiply-add is two.
inline double product_flops(const graph::Graph& model, std::int64_t batch) {
  const graph::Bound bound = graph::bind(model, {{"batch", batch}});
  double flops = 0;
  for (const graph::Node& node : model.nodes) flops += graph::work({bound, node}).flops;
  return flops;
}

inline std::int64_t count(const graph::Graph& model, graph::Kind kind) {
  return std::count_if(model.nodes.begin(), model.nodes.end(),
                       [kind](const graph::Node& node) { return node.kind == kind; });
}

inline bool has_tensor(const graph::Graph& model, const std::string& name) {
  return std::any_of(model.tensors.begin(), model.tensors.end(),
                     [&](const graph::Tensor& tensor) { return tensor.name == name; });
}

// A model and its number of parameters.
struct Published {
  const char* model;
  std::int64_t parameters;
};

}  // namespace foretrain::zoo
