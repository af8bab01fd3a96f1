// SPDX-License-Identifier: Apache-2.0
// How the training of an inspector's network went.
#pragma once

#include <functional>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/train/fit_inspector.h"
#include "foretrain/train/network.h"
#include "foretrain/train/share.h"

namespace foretrain::train {

struct NetworkReport {
  std::size_t architectures = 0;  // trained on
  std::size_t examples = 0;
  std::size_t parameters = 0;
  std::size_t epochs = 0;
  std::size_t best_epoch = 0;
  double validation_loss = 0;  // in units of the network's outputs
  Seconds time{0};             // since training began or went on
  Seconds per_epoch{0};        // of processor time, all threads together
  UsedShare used{};
  std::vector<TargetFit> targets{};  // on the architectures of the fold for intervals
};

using OnEpoch = std::function<bool(const EpochReport&)>;

}  // namespace foretrain::train
