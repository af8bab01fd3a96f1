// SPDX-License-Identifier: Apache-2.0
// Attention within windows of an image, every other layer's shifted by half a window (Liu et
// al., ICCV 2021; the second version, CVPR 2022), as torchvision computes it in eager mode.
#pragma once

#include <cstdint>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

struct WindowAttention {
  std::int64_t heads = 1;
  std::int64_t window = 7;  // tokens on a side
  bool shifted = false;
  // Cosines of queries and keys in place of their products; a small network makes the bias of
  // relative positions in place of a table.
  bool second_version = false;
};

// Of [batch, height, width, channels], which it keeps; in the scope that is open.
graph::TensorId window_attention(graph::Builder& builder, graph::TensorId x,
                                 const WindowAttention& form);

}  // namespace foretrain::zoo
