// SPDX-License-Identifier: Apache-2.0
// Examples of an inspector as a network trains on them.
#pragma once

#include <filesystem>
#include <optional>

#include "foretrain/train/detail/inspector_rows.h"
#include "foretrain/train/example.h"
#include "foretrain/train/network_report.h"

namespace foretrain::train {

struct SplitRows {
  Rows train{};
  Rows validation{};  // that training stops by
  Rows intervals{};   // that took no part in training, nor in its end
};

// One fold of the architectures is for validation, one for intervals. Throws Error(BadInput) where
// there are fewer than three.
SplitRows split_rows(const Rows& rows, std::size_t folds);

// What was measured, where the output is of the example's role. With physics only where the replay
// alternates: elsewhere physics has no such number, and the engine does not answer.
std::optional<double> measured_number(const InspectorExample& example, const NetworkOutput& output);

// Every example whose step was grouped, with its targets in units of the outputs.
std::vector<GraphExample> graph_examples(const Rows& rows, const InspectorNetwork& network);

struct NetworkTraining {
  TrainOptions train{};
  double confidence = 0.9;
  std::filesystem::path checkpoint{};
};

// Trains `network` from where it stands, or from the checkpoint; sets its intervals by
// their rows. Adds to the report.
void train_on(const SplitRows& rows, const NetworkTraining& options, InspectorNetwork& network,
              NetworkReport& report, const OnEpoch& on_epoch);

}  // namespace foretrain::train
