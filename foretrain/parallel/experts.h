// SPDX-License-Identifier: Apache-2.0
// Expert parallelism: ranks hold different experts, tokens go to theirs and come back.
// Source: Lepikhin et al., GShard, ICLR 2021.
#pragma once

#include <set>
#include <string>

#include "foretrain/graph/graph.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

struct ExpertParallel {
  int ranks = 1;
  double imbalance = 1;  // tokens of the busiest rank over the mean
};

// The forward pass of the busiest rank: batched GEMMs with one matrix per expert, and what is
// element-wise between them, compute its own experts' share of all ranks' tokens. All-to-alls bring
// the tokens there and back; those of the backward pass arise there. Throws Error: BadInput where
// `ranks` does not divide the experts, Unsupported where there are none.
graph::Graph split_experts(const graph::Graph& forward, const ExpertParallel& how);

// The parameters of experts: a matrix for each of them.
std::set<graph::TensorId> expert_parameters(const graph::Graph& graph);

// The scopes of the GEMMs that use them, which their gradients have, too.
std::set<std::string> expert_scopes(const graph::Graph& graph);

// Takes the gradients of experts out of all-reduces: ranks with the same experts sum them.
void sum_experts_apart(graph::Graph& step, const Resolved& resolved);

}  // namespace foretrain::parallel
