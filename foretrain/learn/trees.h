// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace foretrain::learn {

// Boosted regression trees, as XGBoost grows them: the prediction is the base plus the leaf that
// each tree leads to. Nodes of all trees stand in one list.
struct TreeNode {
  std::int32_t feature = -1;  // -1: a leaf
  float value = 0;            // the leaf's, or the threshold: below it the way goes left
  std::int32_t left = 0;      // the right one follows it; missing values (NaN) go left
};

struct Trees {
  float base = 0;
  std::vector<std::int32_t> roots{};
  std::vector<TreeNode> nodes{};
};

// Asserts that features are as many as the trees know. Compared in single precision, as XGBoost
// does.
double evaluate(const Trees& trees, std::span<const double> features);

// Whether every node leads to nodes behind it and every feature is below `features`: what a file
// says must be checked before it is evaluated.
bool is_sound(const Trees& trees, std::size_t features);

}  // namespace foretrain::learn
