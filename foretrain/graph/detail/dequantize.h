// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// QLoRA: dequantises weights again where gradient operators read them, for each reader anew: their
// 16-bit values are never kept from forward (or from what runs forward again). What the layer read
// is kept, though no gradient needs it. Source: bitsandbytes, autograd/_functions.py.
Graph dequantize_again(Graph step);

}  // namespace foretrain::graph
