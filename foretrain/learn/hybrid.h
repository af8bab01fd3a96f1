// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "foretrain/learn/trees.h"

namespace foretrain::learn {

// A positive number learned in log space from features, one of which may be the logarithm of what
// physics predicts:
//
//   log y = w (physics + offset + residual(x)) + (1 - w) absolute(x)
//
// Without trees that is physics with an offset; without physics it is boosted trees.
struct Hybrid {
  std::optional<std::size_t> physics{};  // which feature
  double offset = 0;                     // of physics
  double weight = 0;                     // w, 0 to 1; 0 where there is no physics
  Trees residual{};
  Trees absolute{};
};

// The logarithm. Features are as many as `is_sound` was asked for.
double evaluate(const Hybrid& hybrid, std::span<const double> features);

bool is_sound(const Hybrid& hybrid, std::size_t features);

}  // namespace foretrain::learn
