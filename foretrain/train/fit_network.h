// SPDX-License-Identifier: Apache-2.0
// Trains a graph network that says how jobs use their resources.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/knowledge/inspector_model.h"
#include "foretrain/train/inspector_examples.h"
#include "foretrain/train/network_report.h"

namespace foretrain::train {

struct NetworkFit {
  NodeFeatures nodes = NodeFeatures::Physics;
  Grouping grouping{};          // as the examples were grouped
  learn::NetworkShape shape{};  // what comes in and out is filled in; depth 0: half the groups
  TrainOptions train{};
  std::vector<resource::Role> roles{resource::Role::Worker};
  std::vector<std::string> settings{};  // only these; empty: all
  Share share{};                        // of their architectures; all
  std::size_t folds = 10;          // of architectures; one is for validation, one for intervals
  std::size_t least_examples = 4;  // that a number is learned from
  double confidence = 0.9;
  std::filesystem::path checkpoint{};  // where training stands, now and then; goes on from there
};

// Ours: physics corrected, in log space.
NetworkFit network_fit();
// As published (Driple, SIGMETRICS 2022): no physics, targets divided by their largest.
NetworkFit driple_fit();

// Learns from the examples of the split "train", which must be grouped; `on_epoch` may stop it. The
// same examples and options give the same model. Throws Error: BadInput where there are too few
// architectures, or where the checkpoint is of another training; Io.
InspectorModel fit_network(const std::vector<InspectorExample>& examples, const NetworkFit& options,
                           NetworkReport& report, const OnEpoch& on_epoch = {});

}  // namespace foretrain::train
