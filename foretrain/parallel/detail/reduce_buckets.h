// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/bind.h"
#include "foretrain/parallel/plan.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// Bytes of a gradient on the way over its own: below 1 where `gradient_precision` is shorter than
// its own type, as PyTorch's fp16_compress_hook and Horovod's Compression do it.
double compressed_share(DType own, const Resolved& resolved);

// Every all-reduce of the step over all workers, by the fastest algorithm for its size. Gradients
// that are compressed are read and written once before and once after, at the rate of a device's
// memory.
ExchangePlan reduce_buckets(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel
