// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/detail/recurrent_traffic.h"

#include <algorithm>

#include "foretrain/graph/op.h"
#include "foretrain/inspector/replay_constants.h"

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

// Reads input, weights and state, writes output and what it keeps; backward reads all of them and
// what comes back, writes the gradients of input and weights.
RecurrentPart lstm_part(const Layers& all, double width) {
  const double weights = all.gates * all.hidden * (width + all.hidden + 2);
  const double samples = all.steps * all.batch;
  const ReplayConstants::Recurrent& known = replay_constants().recurrent;
  const double kept = samples * (known.kept_by_width * std::max(width, all.hidden) +
                                 known.kept_by_state * all.hidden);
  const double passes = all.gradient ? 2 : 1;
  const double values = passes * (weights + samples * (width + all.hidden)) + kept;
  return {.bytes = values * kBytes,
          .flops = passes * 2 * samples * all.gates * all.hidden * (width + all.hidden),
          .steps = true};
}

// The input's part of the gates: one GEMM, backward two.
RecurrentPart input_part(const Layers& all, double width) {
  const double gates = all.gates * all.hidden;
  const double samples = all.steps * all.batch;
  const double passes = all.gradient ? 2 : 1;
  return {.bytes = passes * kBytes * (gates * width + samples * (width + gates)),
          .flops = passes * 2 * samples * gates * width};
}

// What the steps gave is read and written once more to lie in one tensor: forward their states,
// backward the gradients of the gates. Part of the passes above.
RecurrentPart stack_part(const Layers& all) {
  const double width = all.gradient ? all.gates * all.hidden : all.hidden;
  return {.pointwise_bytes = 2 * kBytes * all.steps * all.batch * width};
}

// Passes over the weights: forward a product reads them in every time step; backward one reads
// them, one writes their gradient, and each sum of two steps' gradients reads two and writes one.
RecurrentPart steps_part(const Layers& all) {
  const ReplayConstants::Recurrent& known = replay_constants().recurrent;
  const bool gru = all.gates > 1;
  const double forward_passes = gru ? known.gru_gates : known.plain_gates;
  const double backward_passes = gru ? known.gru_gates_grad : known.plain_gates_grad;
  const double gate_passes = all.gradient ? backward_passes : forward_passes;
  const double weight_passes = all.gradient ? 2 * all.steps + 3 * (all.steps - 1) : all.steps;
  const double gates = all.gates * all.hidden;
  const double samples = all.steps * all.batch;
  const double gemms = all.gradient ? 2 : 1;
  // Of the passes over gates those that are the GEMMs': each has the gates and the state.
  const double of_gemms = gemms * kBytes * samples * (gates + all.hidden);
  const double of_gates = kBytes * gates * samples * gate_passes;
  return {.bytes = kBytes * gates * weight_passes * all.hidden + of_gemms,
          .flops = gemms * 2 * samples * gates * all.hidden,
          .pointwise_bytes = of_gates - of_gemms - stack_part(all).pointwise_bytes,
          .steps = true,
          .times = all.steps};
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
      std::vector<RecurrentPart> one{input_part(all, all.width_of(layer)), steps_part(all)};
      // Behind the steps in either direction; backward all is turned around below.
      one.insert(all.gradient ? one.begin() + 1 : one.end(), stack_part(all));
      parts.insert(parts.end(), one.begin(), one.end());
    }
  }
  if (all.gradient) std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace foretrain::inspector
