// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/framework.h"
#include "foretrain/graph/op.h"

namespace foretrain::cost {

// Bytes that an update (or zeroing) of the node's tensors moves.
double update_bytes(const graph::NodeView& v, const graph::Work& work, const Framework& framework);

// Launches that it takes.
double update_launches(const graph::NodeView& v, const Framework& framework);

// An optimizer's many launches are one node. The device begins with the first of them, so host
// and device share such a node in this many parts; one where the host waits for the device again
// and again, and for every other node. `kernels` is the node's number of launches.
int launch_parts(const graph::Node& node, int kernels, const Framework& framework);

// Whether the node adds a gradient to a parameter's, where hooks run; other sums are of branches.
bool adds_to_parameter(const graph::NodeView& v);

}  // namespace foretrain::cost
