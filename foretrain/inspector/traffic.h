// SPDX-License-Identifier: Apache-2.0
// Bytes that the operators of a step read and write: what the lab counts, and a GPU's memory
// counters see.
#pragma once

#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/graph/optimizer.h"
#include "foretrain/hw/device.h"

namespace foretrain::inspector {

// What the operators of one node move.
struct Moved {
  double bytes = 0;           // spread over the node's time
  double bytes_at_end = 0;    // at its end, in no time
  double bytes_at_speed = 0;  // before that, as fast as memory can: passes without arithmetic
  // The first node of the operator that this one is part of: a framework computes some gradients
  // together, so that what both read is read once.
  graph::NodeId together = 0;
};

// By node. On a CPU a framework runs a node as one operator or several, each of which reads every
// input and writes every output once: of a batch norm the lab counts two passes, whatever its
// kernel does inside, of a look-up the whole table, and of an optimizer a pass over its values for
// each term of its formula. On a GPU nodes move what the graph says.
std::vector<Moved> moved_bytes(const graph::Bound& bound, graph::Optimizer optimizer,
                               const hw::Device& device);

// Bytes that the operators of an update move for each value of a parameter, in values.
double update_values(graph::Optimizer optimizer, const hw::Device& device);

}  // namespace foretrain::inspector
