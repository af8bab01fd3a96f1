// SPDX-License-Identifier: Apache-2.0
// Recomputation (gradient checkpointing, activation checkpointing): parts of the forward pass keep
// their inputs alone and run again when backward needs what they computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

enum class Recompute : std::uint8_t {
  None,
  Selective,  // the core of attention: scores, softmax, dropout, context
  Full,       // every block
};

struct Recomputation {
  Recompute what = Recompute::None;
  // A checkpoint runs again to its end, as in Megatron's function and PyTorch's reentrant one.
  // Otherwise it stops when the last tensor that backward takes is there: an operator that keeps
  // its inputs alone, such as a block's last linear layer, does not run again.
  // Source: PyTorch, torch/utils/checkpoint.py, set_checkpoint_early_stop.
  bool to_the_end = false;
  // The scopes of the blocks, where they are known: a stage of a pipeline may have one alone, which
  // nothing repeats. Empty: they are looked for.
  std::vector<std::string> blocks{};
  bool operator==(const Recomputation&) const = default;
};

// "none", "selective" or "full". Throws Error(BadInput) for anything else.
Recompute parse_recompute(const std::string& text);

// Forward nodes in order. Whoever depends on one of them and is needed by another is among them.
using Checkpoint = std::vector<NodeId>;

// The checkpoints of a forward pass; none share a node. Attention is looked for inside blocks, so
// that `Selective` is part of `Full`; it has no core where it is one fused operator.
std::vector<Checkpoint> find_checkpoints(const Graph& model, const Recomputation& recomputation);

// What a reader of the report should know about them.
std::string describe_checkpoints(const Graph& model, Recompute what,
                                 const std::vector<Checkpoint>& checkpoints);

// Lets checkpoints run again: copies of their nodes, of phase Recompute, stand before the first
// backward node of theirs that reads what forward kept, and backward reads the copies' tensors.
// What others keep of a checkpoint (its outputs) stays as it is. Autocast's copies of parameters
// are made anew: its cache ends with the forward pass. `origins` has for every node the forward
// node that it is the gradient of; -1: none.
Graph recompute(Graph step, const std::vector<Checkpoint>& checkpoints,
                const std::vector<NodeId>& origins, bool to_the_end);

}  // namespace foretrain::graph
