// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "foretrain/learn/graph_batch.h"

namespace foretrain::train {

// A graph with what the network shall answer; what was not measured is absent.
struct GraphExample {
  learn::GraphInput graph{};
  std::vector<std::optional<float>> targets{};
};

}  // namespace foretrain::train
