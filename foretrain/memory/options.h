// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::memory {

// A pass of one micro-batch through nodes `first` up to, not including, `end` of a step.
struct MicroBatchPass {
  graph::NodeId first = 0;
  graph::NodeId end = 0;
  std::int64_t micro_batch = 0;
};

// What changes the memory of a step besides its graph.
struct Options {
  // Bytes of each flat buffer of gradients that is always there, besides the gradients themselves.
  std::vector<double> flat_buffers{};
  // What other micro-batches keep for their backward passes while this one runs, in a pipeline.
  double held_bytes = 0;
  // Passes of a pipeline's stage in their order, as the allocator sees them; empty: one
  // micro-batch.
  std::vector<MicroBatchPass> passes{};
  // Parameters are stored in half precision, the optimizer keeps fp32 copies.
  bool half_with_master = false;
  // RMS norms of 16-bit tensors are written as operators on an fp32 copy, which backward keeps.
  bool composed_rms_norm = false;
  bool relu_keeps_input = false;  // backward of a ReLU that is not in place reads it
  bool flat_update = false;       // it takes its gradients from a flat 16-bit copy, cast to fp32
  bool fused_update = false;      // an update needs no temporaries
  bool fused_loss = false;       // cross entropy keeps the logits alone, its gradient is one kernel
  bool search_workspace = true;  // convolutions may use scratch memory for faster algorithms
  // Caffe2: every tensor of the forward pass stays where it is, gradients share static buffers.
  bool keeps_blobs = false;
  std::optional<double> most_workspace_bytes{};  // of a convolution's algorithm
  bool channels_last = false;     // convolutions run in NHWC: no copies for tensor cores
  bool tensor_core_fp32 = false;  // fp32 convolutions run on tensor cores (TF32)
  bool caching_allocator = true;  // GPU: blocks are cached and rounded; CPU: they are not
  // What batches of some steps have of the largest one's tokens, where samples differ in length;
  // empty: all are alike.
  std::vector<double> batch_shares{};
};

}  // namespace foretrain::memory
