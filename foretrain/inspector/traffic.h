// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/bind.h"
#include "foretrain/graph/optimizer.h"
#include "foretrain/hw/device.h"

namespace foretrain::inspector {

// Bytes that a node moves where a framework runs it as several operators, each of which reads its
// inputs from memory and writes its outputs: what the lab counts, and a GPU's memory counters see.
// An optimizer without fused kernels passes over its values again for each term of its formula; a
// recurrent layer on a CPU reads its weights in every time step. Everything else moves what the
// graph says.
double moved_bytes(const graph::Bound& bound, const graph::Node& node, graph::Optimizer optimizer,
                   const hw::Device& device);

}  // namespace foretrain::inspector
