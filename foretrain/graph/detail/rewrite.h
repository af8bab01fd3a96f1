// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Makes a new graph from an old one node by node: what a pass does not change it keeps.
class Rewrite {
 public:
  // Starts with everything of `old` that no node writes: inputs, parameters, buffers. Throws
  // Error(BadInput) unless `old` is a forward pass alone: gradients would refer to what changes.
  explicit Rewrite(const Graph& old);

  Graph& graph() { return graph_; }
  TensorId now(TensorId old) const { return map_[static_cast<std::size_t>(old)]; }
  std::vector<TensorId> now(const std::vector<TensorId>& old) const;
  void becomes(TensorId old, TensorId now) { map_[static_cast<std::size_t>(old)] = now; }

  // Appends `node` (of the old graph) with its inputs mapped; shapes and types are inferred
  // anew. `inputs` replaces them where the pass has changed some.
  void keep(const Node& node);
  void keep(const Node& node, std::vector<TensorId> inputs);

  // Gives what a kept node saves beside its result another type.
  void retype_saved(const Node& node, DType type);

  Graph finish();

 private:
  const Graph& old_;
  Graph graph_;
  std::vector<TensorId> map_;
};

}  // namespace foretrain::graph
