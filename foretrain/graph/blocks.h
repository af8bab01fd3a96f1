// SPDX-License-Identifier: Apache-2.0
// The repeated blocks of a model: a transformer's layers, a residual network's blocks. They are
// what frameworks checkpoint, and the units in which FSDP shards.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

using BlockId = std::size_t;

// Where there are no scopes, or none repeats, there are no blocks.
struct Blocks {
  std::vector<std::string> scopes;  // of each block, in the order of their forward passes
  // Of each node, by its scope: a backward node has the scope of the forward node that it is the
  // gradient of, a fused node that of its first part.
  std::vector<std::optional<BlockId>> of_node;
  // Of each parameter and buffer: the block of its readers in the forward pass, or none where
  // these lie in several. Other tensors have none.
  std::vector<std::optional<BlockId>> of_tensor;
};

// A block is a numbered scope ("layers.3", "layer1.0", "encoder_layer_3") with GEMMs in at least
// two layers. Scopes that differ in numbers alone are one pattern. It counts as repeated where,
// below one parent, two neighbours have layers of mostly the same names and the second depends on
// the first: branches and experts run beside each other and are no blocks. Of nested patterns the
// inner one is taken, so that the blocks of a stage are found and not the stage. Runs on a model or
// on any step made of it; shapes are not looked at.
Blocks find_blocks(const Graph& graph);

// Those of `scopes` that have nodes here, in that order: the blocks of a part of a model.
Blocks blocks_named(const Graph& graph, const std::vector<std::string>& scopes);

}  // namespace foretrain::graph
