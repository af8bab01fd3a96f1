// SPDX-License-Identifier: Apache-2.0
// What lies in the host's memory: passes over a step, and what their nodes cost.
#pragma once

#include <string>

#include "foretrain/graph/bind.h"
#include "foretrain/graph/graph.h"
#include "foretrain/parallel/plan.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// Tells steps apart that are offloaded differently; "" where nothing is.
std::string offload_key(const Resolved& resolved);

// The step with its copies to and from the host.
void add_offload(graph::Graph& step, const Resolved& resolved);

// The optimizer's states lie on the host, which updates the parameters.
//
//   when a gradient is complete (after its exchange)   it is copied out
//   in place of the update, in a few parts             the host updates, then the part is copied in
//
// Parameters that only the update reads (fp32 masters of flat shards) lie on the host, too; what
// comes back then has the gradients' type.
void offload_optimizer(graph::Graph& step);

// What backward reads of the forward pass lies on the host meanwhile: memory that a forward node
// writes is copied out when it is complete, and copied in before the backward pass needs it, one
// such piece ahead. What is smaller than `least_bytes` for a batch of one stays, as do results of
// the model, inputs, and copies of parameters.
void offload_activations(graph::Graph& step, double least_bytes);

// `plan` with an exchange for each node that was added, in the order of all communication nodes.
ExchangePlan with_offload(ExchangePlan plan, const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel
