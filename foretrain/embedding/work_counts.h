// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/graph.h"

namespace foretrain::embedding {

// What the forward pass of a model asks for one sample. Bytes are those of the graph's own types,
// fp32 unless it says otherwise.
struct WorkCounts {
  double matrix_flops = 0;     // of linear layers, attention, recurrent layers
  double conv_flops = 0;       // of convolutions of one group
  double grouped_flops = 0;    // of several groups
  double depthwise_flops = 0;  // with a group for each channel
  double gemm_bytes = 0;       // activations that all these read and write
  double moved_bytes = 0;      // that the other operators read and write
  double written_bytes = 0;    // activations that all operators write
  double operators = 0;        // views are none
  double parameters = 0;
};

double forward_flops(const WorkCounts& counts);

// Throws Error(BadInput) where the model has other symbols than its batch.
WorkCounts count_work(const graph::Graph& model);

}  // namespace foretrain::embedding
