// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/buckets.h"

namespace foretrain::memory {

// What changes the memory of a step besides its graph.
struct Options {
  // Where the step has all-reduces, gradients are also held in flat buckets of these sizes.
  graph::BucketSizes buckets{};
  // Parameters are stored in half precision, the optimizer keeps fp32 copies.
  bool half_with_master = false;
  bool search_workspace = true;   // convolutions may use scratch memory for faster algorithms
  bool channels_last = false;     // convolutions run in NHWC: no copies for tensor cores
  bool tensor_core_fp32 = false;  // fp32 convolutions run on tensor cores (TF32)
  bool caching_allocator = true;  // GPU: blocks are cached and rounded; CPU: they are not
};

}  // namespace foretrain::memory
