// SPDX-License-Identifier: Apache-2.0
// Linear regression in the forms that scaling models know.
#pragma once

#include <cstddef>
#include <vector>

#include "foretrain/learn/regressor.h"
#include "foretrain/train/boost.h"

namespace foretrain::train {

// Least squares with `strength` times the squares of the weights added, features standardised so
// that all are shrunk alike, the intercept not at all. Features that do not vary get no weight.
learn::LinearModel fit_ridge(const BoostData& data, double strength);
// The same with these features alone.
learn::LinearModel fit_ridge(const BoostData& data, double strength,
                             const std::vector<std::size_t>& features);

// Non-negative least squares (Lawson and Hanson, 1974), the intercept included.
learn::LinearModel fit_nonnegative(const BoostData& data);

// The same with `strength` times the sum of the weights added, features scaled to equal length and
// the intercept not counted: lasso with non-negative weights, by coordinate descent.
learn::LinearModel fit_lasso(const BoostData& data, double strength);

// Sequential forward selection: features are added one by one, each the one that lowers the mean
// square on folds left out most, until it is lowered by less than a hundredth or there are `most`.
// `fold` says which fold each row is in.
learn::LinearModel fit_stepwise(const BoostData& data, const std::vector<std::size_t>& fold,
                                std::size_t most);

}  // namespace foretrain::train
