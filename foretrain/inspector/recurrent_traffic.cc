// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/detail/recurrent_traffic.h"

#include <algorithm>

#include "foretrain/graph/op.h"

namespace foretrain::inspector {
namespace {

using graph::Attr;

constexpr double kBytes = 4;  // of a value

struct Layers {
  bool gradient = false;
  double gates = 1;
  double layers = 1;
  double directions = 1;
  double steps = 1;
  double batch = 1;
  double width = 1;  // of what the first layer reads
  double hidden = 1;

  // Of what one layer reads.
  double width_of(double layer) const { return layer == 0 ? width : hidden * directions; }
};

Layers layers_of(const graph::Bound& bound, const graph::Node& node) {
  Layers all;
  all.gradient = node.kind == graph::Kind::RecurrentGrad;
  const auto number = [&](Attr attribute, std::int64_t otherwise) {
    return static_cast<double>(node.attributes.number(attribute, otherwise));
  };
  all.gates = number(Attr::Gates, 1);
  all.layers = number(Attr::Layers, 1);
  all.directions = number(Attr::Directions, 1);
  const graph::Extent& input = bound.extent(node.inputs[all.gradient ? 1 : 0]);
  const bool batch_first = node.attributes.number(Attr::BatchFirst, 0) != 0;
  all.steps = static_cast<double>(input[batch_first ? 1 : 0]);
  all.batch = static_cast<double>(input[batch_first ? 0 : 1]);
  all.width = static_cast<double>(input[2]);
  all.hidden = number(Attr::Hidden, 1);
  return all;
}

// Values that oneDNN keeps for the gradient of each step and sample, by the wider one of what a
// layer reads and its state, and by the state. Fitted to operators of the lab's train split.
constexpr double kKeptByWidth = 6.2;
constexpr double kKeptByState = 9.1;

// Reads input, weights and state, writes output and what it keeps; backward reads all of them and
// what comes back, writes the gradients of input and weights.
RecurrentPart lstm_part(const Layers& all, double width) {
  const double weights = all.gates * all.hidden * (width + all.hidden + 2);
  const double samples = all.steps * all.batch;
  const double kept =
      samples * (kKeptByWidth * std::max(width, all.hidden) + kKeptByState * all.hidden);
  const double passes = all.gradient ? 2 : 1;
  const double values = passes * (weights + samples * (width + all.hidden)) + kept;
  return {values * kBytes, passes * 2 * samples * all.gates * all.hidden * (width + all.hidden),
          true};
}

// Passes of plain recurrent layers and GRUs over the gates of a time step, forward and backward.
// Fitted to operators of the lab's train split.
constexpr double kPlainGates = 9.3;
constexpr double kPlainGatesGrad = 13.5;
constexpr double kGruGates = 11.2;
constexpr double kGruGatesGrad = 21;

// The input's part of the gates: one GEMM, backward two.
RecurrentPart input_part(const Layers& all, double width) {
  const double gates = all.gates * all.hidden;
  const double samples = all.steps * all.batch;
  const double passes = all.gradient ? 2 : 1;
  return {passes * kBytes * (gates * width + samples * (width + gates)),
          passes * 2 * samples * gates * width, false};
}

// Passes over the weights: forward a product reads them in every time step; backward one reads
// them, one writes their gradient, and each sum of two steps' gradients reads two and writes one.
RecurrentPart steps_part(const Layers& all) {
  const bool gru = all.gates > 1;
  const double gate_passes =
      all.gradient ? (gru ? kGruGatesGrad : kPlainGatesGrad) : (gru ? kGruGates : kPlainGates);
  const double weight_passes = all.gradient ? 2 * all.steps + 3 * (all.steps - 1) : all.steps;
  const double gates = all.gates * all.hidden;
  const double samples = all.steps * all.batch;
  return {kBytes * gates * (weight_passes * all.hidden + samples * gate_passes),
          (all.gradient ? 2 : 1) * 2 * samples * gates * all.hidden, true};
}

}  // namespace

std::vector<RecurrentPart> recurrent_parts(const graph::Bound& bound, const graph::Node& node) {
  const Layers all = layers_of(bound, node);
  std::vector<RecurrentPart> parts;
  for (double layer = 0; layer < all.layers; ++layer) {
    for (double direction = 0; direction < all.directions; ++direction) {
      if (all.gates == 4) {
        parts.push_back(lstm_part(all, all.width_of(layer)));
        continue;
      }
      parts.push_back(input_part(all, all.width_of(layer)));
      parts.push_back(steps_part(all));
    }
  }
  if (all.gradient) std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace foretrain::inspector
