// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/graph.h"

namespace foretrain::embedding {

// What the forward pass of a model asks for one sample. Bytes are those of the graph's own types,
// fp32 unless it says otherwise.
struct WorkCounts {
  // FLOPs, and bytes of the activations that are read and written.
  struct Gemm {
    double flops = 0;
    double bytes = 0;
  };
  Gemm matrix{};          // linear layers, attention, recurrent layers
  Gemm pointwise_conv{};  // convolutions of one group whose window is one value
  Gemm conv{};            // the others of one group
  Gemm grouped{};         // of several groups
  Gemm depthwise{};       // with a group for each channel
  // Bytes of activations that operators without FLOPs of GEMMs read and write.
  double norm_bytes = 0;
  double pointwise_bytes = 0;
  double other_bytes = 0;
  double fixed_bytes = 0;    // that a pass moves whatever its batch, such as to standardise weights
  double written_bytes = 0;  // activations that all operators write
  double operators = 0;      // views are none
  double parameters = 0;
};

double forward_flops(const WorkCounts& counts);

// Bytes of one sample are what a batch of two moves more than a batch of one, FLOPs those of a
// batch of one. Of a graph whose batch is fixed, `fixed_batch`, all is divided by it. Throws
// Error(BadInput) where the model has other symbols than its batch.
WorkCounts count_work(const graph::Graph& model, double fixed_batch = 1);

}  // namespace foretrain::embedding
