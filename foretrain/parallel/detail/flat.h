// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// What a rank keeps of the gradients between passes.
enum class FlatGradients { Whole, Shards };

// ZeRO-1 and 2 as DeepSpeed and Megatron do them: every rank has all parameters; gradients are
// scattered in flat buckets, each rank updates its part of each bucket in fp32, then all gather the
// parameters anew. The gradients of several passes add up whole, or as shards after each pass.
void shard_flat(graph::Graph& step, const Resolved& resolved, FlatGradients kept);

// What there is besides the gradients themselves: in DeepSpeed two buffers that are filled and sent
// in turn; in Megatron gradients lie in the buffer that is sent, in bf16 it is fp32.
std::vector<double> flat_shard_buffers(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel
