// SPDX-License-Identifier: Apache-2.0
// Learns how jobs use their resources from measured runs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/knowledge/inspector_model.h"
#include "foretrain/train/boost.h"
#include "foretrain/train/inspector_examples.h"
#include "foretrain/train/share.h"

namespace foretrain::train {

// What a model may rest on.
enum class InspectorMethod {
  Hybrid,   // of the forms below, for each number the one that architectures left out show best
  Physics,  // the replayed timeline, with an offset for each number
  Trees,    // boosted trees on features of graph and setting alone: no physics
};
std::string_view name_of(InspectorMethod method);
std::optional<InspectorMethod> inspector_method_named(std::string_view name);

struct InspectorFit {
  InspectorMethod method = InspectorMethod::Hybrid;
  std::vector<std::string> settings{};  // only these; empty: all
  Share share{};                        // of their architectures; all
  std::size_t folds = 5;                // of architectures
  std::size_t least_examples = 20;      // that a number is learned from
  double confidence = 0.9;
  BoostOptions trees{.rounds = 120, .rate = 0.06, .depth = 3};
  int threads = 0;  // 0: as many as the machine has; results do not depend on it
};

// How well one number is predicted on architectures left out of the fit.
struct TargetFit {
  std::string name;
  std::string form;  // as docs/models/inspector.md names it
  std::size_t examples = 0;
  double error = 0;                 // mean |predicted / measured - 1|, with the form chosen
  std::optional<double> physics{};  // the same of physics with an offset, where that was tried
};

// Fits every number that enough examples have. Examples of the split "test" are not looked at.
// `progress` is told how much is done, `used` what was learned from. The same examples and options
// give the same model. Throws Error(BadInput) where there are too few architectures.
InspectorModel fit_inspector(const std::vector<InspectorExample>& examples,
                             const InspectorFit& options, std::vector<TargetFit>& found,
                             const std::function<void(double)>& progress = {},
                             UsedShare* used = nullptr);

}  // namespace foretrain::train
