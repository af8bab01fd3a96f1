// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/graph/bind.h"

namespace foretrain::inspector {

// A part of what a recurrent layer does, in the order in which it is done.
struct RecurrentPart {
  double bytes = 0;
  double flops = 0;    // of its GEMMs
  bool steps = false;  // time steps one by one, which take what GEMMs of the others leave
};

// What a recurrent layer, or its gradient, does on a CPU. An LSTM is one operator for each layer
// and direction; others compute the input's part of the gates in one GEMM, then run a GEMM and
// operators on the gates in every time step.
std::vector<RecurrentPart> recurrent_parts(const graph::Bound& bound, const graph::Node& node);

}  // namespace foretrain::inspector
