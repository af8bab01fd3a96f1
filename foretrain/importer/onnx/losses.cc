// SPDX-License-Identifier: Apache-2.0
// Losses, which files written for training have.
#include <array>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

// Scores of [batch, classes, ...] as rows, and a target for each row.
void cross_entropy(const OnnxCall& call, Kind kind) {
  const Shape scores = call.shape(0);
  if (scores.rank() < 2 || call.text("reduction", "mean") == "none" || call.wants(1)) {
    return translate_unknown(call);
  }
  std::vector<int> order{0};
  for (int i = 2; i < scores.rank(); ++i) order.push_back(i);
  order.push_back(1);
  Dim rows(1);
  for (int i = 0; i < scores.rank(); ++i) rows = i == 1 ? rows : rows * scores[i];
  const TensorId last = call.transpose(call.tensor(0), order);
  const TensorId logits = call.reshape(last, {rows, scores[1]});
  const TensorId targets = call.reshape(call.tensor(1), {rows});
  call.give(0, call.emit(kind, {logits, targets}));
}

// Takes logarithms of probabilities; one number, or one per target.
void log_likelihood(const OnnxCall& call, Kind /*kind*/) {
  const bool each = call.text("reduction", "mean") == "none";
  const Shape shape = each ? call.shape(1) : Shape{};
  const std::vector<TensorId> inputs{call.tensor(0), call.tensor(1)};
  call.give(0, call.emit_opaque(inputs, {shape}, call.in(0).type).front());
}

constexpr std::array kRules{
    OnnxRule{"SoftmaxCrossEntropyLoss", cross_entropy, Kind::CrossEntropy},
    OnnxRule{"NegativeLogLikelihoodLoss", log_likelihood},
};

}  // namespace

std::span<const OnnxRule> onnx_loss_rules() { return kRules; }

}  // namespace foretrain::importer
