// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/op_time.h"

namespace foretrain::cost {

// Bytes that an update (or zeroing) of the node's tensors moves.
double update_bytes(const graph::NodeView& v, const graph::Work& work, const Framework& framework);

// Launches that an it takes.
double update_launches(const graph::NodeView& v, const Framework& framework);

}  // namespace foretrain::cost
