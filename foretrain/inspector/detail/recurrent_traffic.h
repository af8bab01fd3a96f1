// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/graph/bind.h"

namespace foretrain::inspector {

// A part of what a recurrent layer does, in the order in which it is done.
struct RecurrentPart {
  double bytes = 0;            // that its GEMMs move, or its one operator does
  double flops = 0;            // of its GEMMs
  double pointwise_bytes = 0;  // of the operators behind them, which compute nothing worth the name
  bool steps = false;          // takes what the others leave: those are of whole sequences
  double times = 1;            // so many time steps, one after the other
};

// What a recurrent layer, or its gradient, does on a CPU. An LSTM is one operator for each layer
// and direction; others compute the input's part of the gates in one GEMM, run a GEMM and operators
// on the gates in every time step, and put what the steps gave together.
std::vector<RecurrentPart> recurrent_parts(const graph::Bound& bound, const graph::Node& node);

}  // namespace foretrain::inspector
