// SPDX-License-Identifier: Apache-2.0
// Context parallelism: ranks share each sequence; keys and values go around a ring of them.
// Source: Liu, Zaharia, Abbeel, Ring Attention, ICLR 2024; Transformer Engine, context_parallel.py.
#pragma once

#include "foretrain/graph/graph.h"

namespace foretrain::parallel {

// The forward pass of one of `ranks` ranks, which has its part of every sequence of tokens and all
// parameters. Attention over a sequence that is shared is marked as a ring. What needs a whole
// sequence otherwise gathers it. Throws Error: BadInput where twice `ranks` does not divide the
// sequence (each rank has an early and a late chunk of it, so that causal attention is the same
// work for all), Unsupported where little of the model runs along a sequence.
graph::Graph split_context(const graph::Graph& forward, int ranks);

// For a whole step, with its backward pass or without: marked attention becomes blocks, one for
// each rank's keys and values, c in all.
//
//                forward                       backward
//   before block i    keys and values go on         keys and values, and sums of their gradients,
//                     to the next rank, c - 1 times go on, c - 1 times each
//   after it          its result is merged with     its gradients are added
//                     those before
//
// They go on while a block is computed. Forward keeps the keys and values that came last, with
// which the backward pass begins: its last block has the rank's own.
graph::Graph expand_rings(graph::Graph step, int ranks);

}  // namespace foretrain::parallel
