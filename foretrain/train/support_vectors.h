// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/learn/regressor.h"
#include "foretrain/train/boost.h"

namespace foretrain::train {

// Support vector regression (SVR) with a Gaussian kernel, `breadth` times as wide as the features'
// number, by libsvm: errors beyond a hundredth of the targets' deviation cost `cost`, against a
// flat function. Weights of rows do not count. Throws Error(BadInput) with libsvm's words.
learn::KernelModel fit_support_vectors(const BoostData& data, double cost, double breadth = 1);

}  // namespace foretrain::train
