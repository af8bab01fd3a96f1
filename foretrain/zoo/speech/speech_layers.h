// SPDX-License-Identifier: Apache-2.0
// Layers over sound: x is [batch, channels, frames].
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

struct Conv1d {
  std::int64_t channels = 0;  // of the output
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = false;
};

// Padded by half of the kernel on both sides.
graph::TensorId conv1d(graph::Builder& builder, const std::string& name, graph::TensorId x,
                       const Conv1d& layer);

// The loss of speech recognition over logits [rows, classes], one row per frame and sample. CTC
// sums over alignments, in two kernels that are as short as a cross entropy over every frame,
// which stands for it; a note says so.
graph::TensorId ctc_loss(graph::Builder& builder, graph::TensorId logits);

}  // namespace foretrain::zoo
