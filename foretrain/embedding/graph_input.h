// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/embedding/embedding_file.h"
#include "foretrain/graph/graph.h"
#include "foretrain/learn/gated_graph.h"

namespace foretrain::embedding {

// A model as the hypernetwork sees it. A node is an operator of the forward pass or an input that
// one of them reads. Views are left out, what they show belongs to who wrote it; so are losses.
// Counts are those of one sample. Virtual edges are at most `most_virtual` per node, the shortest
// first, so that the work grows with the nodes alone. Throws Error(BadInput) for a model without
// operators.
learn::DirectedInput graph_input(const graph::Graph& model, const Embedding& embedding);

}  // namespace foretrain::embedding
