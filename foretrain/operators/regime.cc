// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/regime.h"

#include <algorithm>
#include <utility>

#include "foretrain/operators/breakdown.h"

namespace foretrain::operators {
namespace {

// Models without attention or GEMMs of activations are neither cnn nor transformer.
std::string family_of(const Stages& stages) {
  using graph::Kind;
  const std::vector<cost::OpTime>& ops = slowest_class(stages).ops;
  Seconds convolutions{0};
  Seconds recurrent{0};
  Seconds gemm{0};
  bool attends = false;
  for (std::size_t n = 0; n < ops.size(); ++n) {
    const Kind kind = stages.step->graph.nodes[n].kind;
    if (kind == Kind::Conv || kind == Kind::ConvInputGrad || kind == Kind::ConvWeightGrad) {
      convolutions += ops[n].total;
    } else if (kind == Kind::Recurrent || kind == Kind::RecurrentGrad) {
      recurrent += ops[n].total;
    } else if (kind == Kind::Linear || kind == Kind::MatMul || kind == Kind::Attention ||
               kind == Kind::AttentionGrad) {
      gemm += ops[n].total;
      attends = attends || kind == Kind::Attention || kind == Kind::MatMul;
    }
  }
  if (recurrent > Seconds{0} && recurrent >= std::max(convolutions, gemm)) return "recurrent";
  if (convolutions > Seconds{0} && convolutions >= gemm) return "cnn";
  return attends ? "transformer" : "other";
}

std::string bound_of(const Breakdown& parts) {
  using Part = std::pair<Seconds, const char*>;
  const std::array kinds{Part{parts.compute, "compute"}, Part{parts.memory, "memory"},
                         Part{parts.exposed_communication, "communication"},
                         Part{parts.host, "host"}};
  return std::max_element(kinds.begin(), kinds.end(),
                          [](const Part& a, const Part& b) { return a.first < b.first; })
      ->second;
}

std::string precision_of(Precision precision) {
  return is_half(precision) ? "half" : to_string(precision);
}

// What a step has besides the model's kernels hardly depends on them, so it weighs most in short
// ones.
std::string length_of(double step_s, const LengthLimits& limits) {
  if (step_s < limits.tiny_s) return "tiny";
  if (step_s < limits.short_s) return "short";
  return step_s < limits.medium_s ? "medium" : "long";
}

std::string sharing_of(const Strategy& strategy) {
  if (strategy.tensor * strategy.pipeline * strategy.expert > 1) return "split";
  const bool sharded = strategy.kind == Parallel::Fsdp || strategy.kind == Parallel::Zero1 ||
                       strategy.kind == Parallel::Zero2 || strategy.kind == Parallel::Zero3;
  return sharded ? "sharded" : "whole";
}

}  // namespace

Regime regime_of(const Stages& stages, const Resolved& resolved, const Breakdown& parts) {
  Regime regime;
  word(regime, Trait::Family) = family_of(stages);
  word(regime, Trait::Framework) = resolved.framework->name;
  word(regime, Trait::Scale) = resolved.workers == 1                ? "one"
                               : resolved.cluster.nodes.size() == 1 ? "node"
                                                                    : "nodes";
  word(regime, Trait::Bound) = bound_of(parts);
  word(regime, Trait::Precision) = precision_of(resolved.precision);
  word(regime, Trait::Mode) = resolved.mode == Mode::Train ? "train" : "inference";
  word(regime, Trait::Length) = length_of(stages.timeline.end.count(), resolved.intervals->lengths);
  word(regime, Trait::Architecture) = slowest_device(stages, resolved).architecture;
  word(regime, Trait::Sharing) = sharing_of(resolved.strategy);
  return regime;
}

}  // namespace foretrain::operators
