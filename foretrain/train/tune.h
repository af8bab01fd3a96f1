// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "foretrain/train/regression.h"

namespace foretrain::train {

// How hyper-parameters are looked for.
enum class Tuning {
  Grid,   // every setting of grid_of
  Bayes,  // a dozen of fine_grid_of, each the one that promises most after those before
};

struct TunedSetting {
  Setting setting{};
  double error = 0;
};

// The setting of a method with the least error among those that are tried. The same errors and seed
// give the same setting. `error_of` is asked once for each.
TunedSetting tune(Method method, Tuning tuning, std::uint64_t seed,
                  const std::function<double(const Setting&)>& error_of);

}  // namespace foretrain::train
