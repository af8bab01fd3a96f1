// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace foretrain::learn {
namespace {

// x0 < 2 ? (x1 < 5 ? 1 : 2) : 4, and a second tree of one leaf, 0.5; the base is 10.
Trees two_trees() {
  Trees trees;
  trees.base = 10;
  trees.roots = {0, 5};
  trees.nodes = {{0, 2, 1}, {1, 5, 3}, {-1, 4, 0}, {-1, 1, 0}, {-1, 2, 0}, {-1, 0.5F, 0}};
  return trees;
}

TEST(Trees, LeadToTheLeafOfEachTree) {
  const Trees trees = two_trees();
  EXPECT_EQ(evaluate(trees, std::vector<double>{1, 1}), 11.5);
  EXPECT_EQ(evaluate(trees, std::vector<double>{1, 5}), 12.5);  // not below 5
  EXPECT_EQ(evaluate(trees, std::vector<double>{2, 1}), 14.5);
  EXPECT_EQ(evaluate(trees, std::vector<double>{std::nan(""), std::nan("")}), 11.5);
}

TEST(Trees, AreSoundOnlyWhereTheyLeadForward) {
  EXPECT_TRUE(is_sound(two_trees(), 2));
  EXPECT_FALSE(is_sound(two_trees(), 1));  // x1 is not there
  Trees circle = two_trees();
  circle.nodes[1].left = 0;
  EXPECT_FALSE(is_sound(circle, 2));
  Trees beyond = two_trees();
  beyond.nodes[1].left = 5;
  EXPECT_FALSE(is_sound(beyond, 2));
  Trees rootless = two_trees();
  rootless.roots.push_back(6);
  EXPECT_FALSE(is_sound(rootless, 2));
  Trees endless = two_trees();
  endless.nodes[5].value = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(is_sound(endless, 2));
}

}  // namespace
}  // namespace foretrain::learn
