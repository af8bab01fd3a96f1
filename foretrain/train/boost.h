// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foretrain/learn/trees.h"

namespace foretrain::train {

// How boosted trees are grown; what is small here keeps a few hundred examples from being learnt by
// heart.
struct BoostOptions {
  int rounds = 200;
  double rate = 0.05;
  int depth = 4;
  double rows = 0.7;        // share of the examples that a tree sees
  double columns = 0.4;     // share of the features
  double least_weight = 3;  // of the examples in a leaf
  double shrinkage = 2;     // of leaves towards zero
  bool absolute = false;    // the mean of absolute errors, not of squares
  std::uint64_t seed = 1;
};

// A row per example: its features, what is to be learnt, and how much it counts.
struct BoostData {
  std::vector<std::vector<double>> features{};
  std::vector<double> targets{};
  std::vector<double> weights{};
};

// By XGBoost, on one thread: the same data and options give the same trees. Throws Error(BadInput)
// for no example or a target that is not finite, Error(Io) with XGBoost's words.
learn::Trees boost(const BoostData& data, const BoostOptions& options);

}  // namespace foretrain::train
