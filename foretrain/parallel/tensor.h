// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism: ranks share the GEMMs of each layer, as Megatron-LM does it.
// Source: Shoeybi et al., arXiv 1909.08053; Korthikanti et al., MLSys 2023 (sequence parallelism).
#pragma once

#include "foretrain/graph/graph.h"

namespace foretrain::parallel {

struct TensorParallel {
  int ranks = 1;
  bool sequence = false;  // between the regions that are split, ranks share the sequence
};

// The forward pass of one rank: its part of every tensor that is split, and collectives of
// activations. Their gradients arise in the backward pass.
//
//                       forward           backward
//   into a region       -                 all-reduce
//   out of it           all-reduce        -
//   with `sequence`:
//   into a region       all-gather        reduce-scatter
//   out of it           reduce-scatter    all-gather
//
// Words of the vocabulary are split, too; its cross entropy sums three values of each token.
// Throws Error: BadInput where `ranks` does not divide heads or features, Unsupported where little
// of the model can be split.
graph::Graph split_tensors(const graph::Graph& forward, const TensorParallel& how);

// For a whole step with its backward pass:
//
// Gathered activations are not kept for backward, which gathers them again.
graph::Graph gather_again(graph::Graph step);
// The gradients of parameters that ranks have whole and use for different parts are summed, all
// together, before the update.
graph::Graph sum_partial_gradients(graph::Graph step);

}  // namespace foretrain::parallel
