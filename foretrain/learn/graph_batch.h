// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "foretrain/learn/matrix.h"

namespace foretrain::learn {

// A graph without direction: features of its nodes, a row each, and pairs of nodes. At least one
// node; pairs name nodes that it has. Pairs of a node with itself, and those given again, do not
// count.
struct GraphInput {
  Matrix nodes{};
  std::vector<std::pair<std::int32_t, std::int32_t>> edges{};
  std::vector<float> whole{};  // features of the whole graph, beside the readout
};

// What neighbours weigh in a convolution.
enum class Neighbours {
  Normalised,  // D^-1/2 (A + I) D^-1/2
  WithSelf,    // A + I
  Plain,       // A
};

// Several graphs as one.
struct GraphBatch {
  Matrix nodes{};
  Segments first{0};
  Sparse neighbours{};
  Matrix whole{};
};
GraphBatch make_batch(std::span<const GraphInput* const> graphs, Neighbours neighbours);

// How many of these graphs, from the first on, are worked out together: at least one, and as many
// as keep the numbers of all layers in the caches.
std::size_t graphs_at_once(std::span<const GraphInput* const> graphs);

}  // namespace foretrain::learn
