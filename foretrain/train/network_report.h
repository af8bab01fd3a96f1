// SPDX-License-Identifier: Apache-2.0
// How the training of an inspector's network went.
#pragma once

#include <functional>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/train/fit_inspector.h"
#include "foretrain/train/network.h"

namespace foretrain::train {

struct NetworkReport {
  std::size_t architectures = 0;  // trained on
  std::size_t examples = 0;
  std::size_t parameters = 0;
  std::size_t epochs = 0;
  std::size_t best_epoch = 0;
  double validation_loss = 0;  // in units of the network's outputs
  Seconds time{0};
  std::vector<TargetFit> targets{};  // on the architectures of the validation fold
};

using OnEpoch = std::function<bool(const EpochReport&)>;

}  // namespace foretrain::train
