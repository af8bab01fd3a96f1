// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Nodes of the forward pass that belong together: of one kind, or of one layer.
struct Group {
  std::string name;
  int nodes = 0;
  double parameters = 0;  // each counts where it is used first
  double flops = 0;       // of GEMMs; a multiply-add is two
  double written_bytes = 0;
  std::string output;  // shape of the last node's first output
};

// One node with its counts.
struct NodeLine {
  const Node* node = nullptr;
  std::vector<std::vector<std::int64_t>> inputs;  // shapes
  std::vector<std::vector<std::int64_t>> outputs;
  double flops = 0;
  double vector_flops = 0;
  double read_bytes = 0;
  double written_bytes = 0;
};

// What was understood of a model: the model with its backward pass at one batch size.
struct GraphSummary {
  Graph step;  // forward and backward
  std::vector<NodeLine> lines;
  double forward_flops = 0;
  double backward_flops = 0;
  double activation_bytes = 0;  // all that forward nodes write; views write nothing
  std::vector<Group> kinds;     // the most work first
  std::vector<Group> layers;    // in execution order
};

// The part of a scope that is shown as one layer: its first `depth` parts (0: all of it), or up
// to the first part that is a number, which is a block in most models ("transformer.h.0").
std::string layer_of(const std::string& scope, std::optional<int> depth);

// Throws Error(BadInput) for a batch that does not fit the model.
GraphSummary summarise_graph(Graph model, std::int64_t batch, std::optional<int> depth);

// {"name": ..., "parameters": ..., "forward_flops": ..., "backward_flops": ..., "nodes": [...]}.
std::string graph_json(const GraphSummary& summary, std::int64_t batch);

}  // namespace foretrain::graph
