// SPDX-License-Identifier: Apache-2.0
// Which parts of a model tensor-parallel ranks share.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "foretrain/graph/axes.h"
#include "foretrain/graph/graph.h"
#include "foretrain/parallel/detail/parts.h"

namespace foretrain::parallel {

// A region is what follows from splitting the output features of one GEMM (its columns): every
// tensor that has this axis is split along it, up to GEMMs that sum over it (rows), whose results
// are partial sums. An MLP is one region, so is attention with all of its projections, and a table
// of words with the head that shares it. Where anything that is reached needs the whole axis there
// is no region: those GEMMs run on every rank.
struct TensorRegions {
  std::vector<int> of_node;                             // region of each node; -1: none
  std::vector<std::optional<graph::AxisFactor>> split;  // of each tensor: along what
  std::set<Operand> entries;  // whole values that each rank goes on with in its own way
  std::map<Operand, graph::AxisFactor> own_parts;  // of inputs and buffers that all ranks have
  std::set<graph::NodeId> partial;                 // nodes whose result is a partial sum
  std::set<graph::NodeId> losses;                  // cross entropies over split words
  std::set<graph::TensorId> summed;  // whole parameters, with partial sums as gradients
  std::set<graph::TensorId> whole;   // what regions take and give
  int count = 0;
};

// Throws Error(BadInput) naming the layer where only a size that `ranks` does not divide is in the
// way; vocabularies are padded instead.
TensorRegions find_tensor_regions(const graph::Graph& forward, int ranks);

}  // namespace foretrain::parallel
