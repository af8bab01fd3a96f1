// SPDX-License-Identifier: Apache-2.0
// An inspector of other settings becomes one for a new setting, from few runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/train/fit_network.h"
#include "foretrain/train/share.h"
#include "foretrain/train/transfer.h"

namespace foretrain::train {

struct TransferFit {
  std::string setting{};
  Share share{};          // of the setting's jobs outside of the test split; its seed is training's
  std::size_t folds = 5;  // of architectures
  // Of a network.
  Partition partition = Partition::Driple;
  TrainOptions train{};
  std::filesystem::path checkpoint{};  // as NetworkFit's
  // Of trees: few and small, because the base knows most already.
  BoostOptions trees{.rounds = 40, .depth = 3};
};

struct TransferReport {
  UsedShare used{};                // what the transfer saw, validation included
  std::vector<TargetFit> trees{};  // TargetFit::physics is the error of the base as it was
  NetworkReport network{};
};

// A network trains its partition on the setting's runs. Trees and physics stay, with a new offset
// and residual trees that go on from their prediction, each only where architectures left out show
// that it helps. Throws Error(BadInput) where the setting has too few architectures, the base other
// features than the examples, or a network has no grouped examples.
InspectorModel transfer_inspector(const InspectorModel& base,
                                  const std::vector<InspectorExample>& examples,
                                  const TransferFit& options, TransferReport& report,
                                  const OnEpoch& on_epoch = {});

// The base with `offset` and `trees` added to the logarithm that it says.
learn::Hybrid with_correction(const learn::Hybrid& base, double offset, const learn::Trees& trees);

}  // namespace foretrain::train
