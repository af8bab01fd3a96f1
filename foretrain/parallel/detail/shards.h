// SPDX-License-Identifier: Apache-2.0
// Parameters that ranks share: what each of them keeps.
#pragma once

#include "foretrain/graph/graph.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// Whether parameters of fp32 are gathered, and computed with, in half precision.
bool gathers_half(const Resolved& resolved);

// The type that gradients of type `own` are summed in.
DType reduced_type(DType own, const Resolved& resolved);

// A rank's part of a tensor: of its first axis, as PyTorch's fully_shard divides it, or of `axis`
// the n-th part, rounded up.
graph::Shape shard_of(const graph::Shape& whole, int ranks, int axis = 0);

// The shard of a parameter as a tensor of its own, of the type that it is kept in; the parameter
// itself is not learned any more.
graph::TensorId add_shard(graph::Graph& step, graph::TensorId parameter, graph::Shape shape,
                          DType kept);

}  // namespace foretrain::parallel
