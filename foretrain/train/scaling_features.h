// SPDX-License-Identifier: Apache-2.0
// What the methods of scaling models see of a run.
#pragma once

#include <string>
#include <vector>

#include "foretrain/learn/feature_map.h"
#include "foretrain/train/divisions.h"
#include "foretrain/train/regression.h"

namespace foretrain::train {

// The features of a method for rows whose values are those of `variables` and, `with_operators`,
// the operator engine's time behind them.
learn::FeatureMap features_for(const ScalingRows& rows, const std::vector<std::string>& variables,
                               bool with_operators, const Setting& setting);

}  // namespace foretrain::train
