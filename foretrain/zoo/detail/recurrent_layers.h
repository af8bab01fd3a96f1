// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

enum class Cell : std::uint8_t { Plain = 1, Gru = 3, Lstm = 4 };  // how many gates

struct Recurrence {
  Cell cell = Cell::Lstm;
  std::int64_t hidden = 0;
  std::int64_t layers = 1;
  bool bidirectional = false;
  bool dropout = false;  // between the layers
};

// PyTorch's recurrent module, one call of cuDNN for all layers and steps: x [time, batch,
// features] to [time, batch, hidden], twice hidden where bidirectional.
graph::TensorId recurrent(graph::Builder& builder, const std::string& name, graph::TensorId x,
                          const Recurrence& form);

}  // namespace foretrain::zoo
