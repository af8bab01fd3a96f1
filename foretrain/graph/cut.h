// SPDX-License-Identifier: Apache-2.0
// Pipeline stages: a model's forward pass is cut between its blocks, and each stage becomes a graph
// of its own that receives what the one before it sends.
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Parts of a forward pass, one after the other.
struct Cut {
  std::vector<std::vector<NodeId>> nodes;      // of each part, in order
  std::vector<std::vector<TensorId>> borders;  // what part i + 1 reads of part i
  std::vector<int> blocks;                     // how many each part has
  std::vector<std::string> scopes;             // of all blocks
};

// Cuts at block borders (blocks.h) so that parts have equally many blocks. Where these do not
// divide, parts in the middle have one more, as the first also has what comes before the blocks (a
// transformer's embedding) and the last what comes after (its head and loss). What does not depend
// on both parameters and inputs, such as masks, positions and casts of parameters, is in every part
// that reads it. Throws Error(Unsupported) where there are too few blocks, or a part reads what
// another than the one before it computed.
Cut cut_at_blocks(const Graph& model, int parts);

// The forward pass of a rank that holds these parts: each begins with a Receive and ends with a
// Send, but for the model's first and last. Attr::Frozen on both: no gradient comes back, as
// nothing before is trained.
Graph take_parts(const Graph& model, const Cut& cut, const std::vector<int>& parts);

// Whether both have the same nodes and tensors, whatever these are called.
bool is_alike(const Graph& a, const Graph& b);

// A parameter that several parts read: each has a copy, and their gradients are summed.
struct SharedParameter {
  TensorId parameter = 0;
  std::vector<int> parts;
};
std::vector<SharedParameter> shared_parameters(const Graph& model, const Cut& cut);

}  // namespace foretrain::graph
