// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// Replaces each attention that PyTorch's fused kernel for CPUs does not compute by what it stands
// for: one with dropout, and one with fewer heads of keys than of queries.
// Source: bytes that the lab counts per step (data/lab, PyTorch 2.13): within 7 % of the fused
// kernel's without dropout, where GEMMs and softmax would move up to 32 % more; those with dropout,
// and Llama's grouped heads, move what GEMMs and softmax do.
Graph expand_attention_for_cpu(const Graph& model);

}  // namespace foretrain::graph
