// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/graph.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// When the gathered parameters of a block are let go.
enum class Reshard { AfterForward, AfterBackward };

// The step of a rank that keeps shards of parameters, gradients and optimizer states. A unit is a
// block of the model (graph/blocks.h); what lies in none, or in several, is the root unit.
//
//   before the forward pass of a unit   all-gather of its parameters
//   before its backward pass            the same again, where they were let go after forward
//   after its backward pass             gradients are put together in one flat buffer of the type
//                                       that they are summed in, then reduce-scatter
//
// Gathers are issued one unit ahead (prefetch), so that two units' parameters are there at most;
// the root's parameters are there throughout. With several copies each reduce-scatter is followed
// by an all-reduce of the shards across them.
void shard_units(graph::Graph& step, const Resolved& resolved, Reshard reshard);

}  // namespace foretrain::parallel
