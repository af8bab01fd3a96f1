// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foretrain/learn/regressor.h"
#include "foretrain/train/boost.h"

namespace foretrain::train {

// A network (MLP) of one hidden layer of so many tanh units: weights drawn from the seed, then Adam
// over all rows at once. The same data, width and seed give the same network. Needs a row.
learn::DenseModel fit_dense(const BoostData& data, std::size_t width, std::uint64_t seed);

}  // namespace foretrain::train
