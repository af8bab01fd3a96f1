// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foretrain/learn/trees.h"
#include "foretrain/train/boost.h"

namespace foretrain::train {

// Regression trees that divide the rows where the squares within the parts are least (CART,
// Breiman et al. 1984), alone or as a random forest (Breiman 2001).
struct ForestOptions {
  std::size_t trees = 1;       // more than one: each grows on rows drawn with replacement
  std::size_t least_rows = 3;  // in a leaf
  std::size_t depth = 20;      // at most
  double columns = 1;          // share of the features that a division may choose from
  std::uint64_t seed = 1;
};

// The mean of the trees, each leaf holding its share of it. The same data and options give the same
// trees. Needs a row.
learn::Trees grow_forest(const BoostData& data, const ForestOptions& options);

}  // namespace foretrain::train
