// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/op_time.h"

namespace foretrain::cost {

// Launches that an update (or zeroing) of the node's tensors takes.
double update_launches(const graph::NodeView& node, const Framework& framework);

}  // namespace foretrain::cost
