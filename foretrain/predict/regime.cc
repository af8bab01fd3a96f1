// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/regime.h"

#include <algorithm>

#include "foretrain/predict/summarise.h"

namespace foretrain {
namespace {

constexpr std::array<std::string_view, kTraits> kNames{
    "family", "framework", "scale",   "bound",        "precision",
    "mode",   "length",    "machine", "architecture", "seen"};

// Models without attention or products of activations are neither cnn nor transformer.
std::string family_of(const Stages& stages) {
  using graph::Kind;
  const std::vector<cost::OpTime>& ops = slowest_class(stages).ops;
  Seconds convolutions{0};
  Seconds recurrent{0};
  Seconds products{0};
  bool attends = false;
  for (std::size_t n = 0; n < ops.size(); ++n) {
    const Kind kind = stages.step->graph.nodes[n].kind;
    if (kind == Kind::Conv || kind == Kind::ConvInputGrad || kind == Kind::ConvWeightGrad) {
      convolutions += ops[n].total;
    } else if (kind == Kind::Recurrent || kind == Kind::RecurrentGrad) {
      recurrent += ops[n].total;
    } else if (kind == Kind::Linear || kind == Kind::MatMul || kind == Kind::Attention ||
               kind == Kind::AttentionGrad) {
      products += ops[n].total;
      attends = attends || kind == Kind::Attention || kind == Kind::MatMul;
    }
  }
  if (recurrent > Seconds{0} && recurrent >= std::max(convolutions, products)) return "recurrent";
  if (convolutions > Seconds{0} && convolutions >= products) return "cnn";
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
  const bool plain =
      precision == Precision::Fp32 || precision == Precision::Tf32 || precision == Precision::Fp64;
  return plain ? to_string(precision) : "short";
}

// What a step has besides the model's kernels hardly depends on them, so it weighs most in short
// ones; the limits are about a factor of three apart.
std::string length_of(double step_s) {
  if (step_s < 0.01) return "tiny";
  if (step_s < 0.03) return "short";
  return step_s < 0.1 ? "medium" : "long";
}

}  // namespace

std::string_view trait_name(Trait which) { return kNames[static_cast<std::size_t>(which)]; }

std::optional<Trait> trait_named(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Trait>(found - kNames.begin());
}

Regime regime_of(const Stages& stages, const Request& request, const Report& report) {
  const Setting& setting = stages.setting;
  Regime regime;
  word(regime, Trait::Family) = family_of(stages);
  word(regime, Trait::Framework) = setting.framework->name;
  word(regime, Trait::Scale) = setting.workers == 1                ? "one"
                               : setting.cluster.nodes.size() == 1 ? "node"
                                                                   : "nodes";
  word(regime, Trait::Bound) = bound_of(report.breakdown);
  word(regime, Trait::Precision) = precision_of(request.precision);
  word(regime, Trait::Mode) = request.mode == Mode::Train ? "train" : "inference";
  word(regime, Trait::Length) = length_of(report.step_time_s.value);
  word(regime, Trait::Machine) = request.host_speed != 1 ? "stated" : "assumed";
  word(regime, Trait::Architecture) = slowest_device(stages).architecture;
  return regime;
}

std::string chip_named(std::string_view device) {
  const std::size_t dash = device.rfind('-');
  const bool has_size = dash != std::string_view::npos && device.ends_with("gb");
  return std::string(has_size ? device.substr(0, dash) : device);
}

}  // namespace foretrain
