// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/forest.h"

#include <gtest/gtest.h>

namespace foretrain::train {
namespace {

double told(const learn::Trees& trees, std::vector<double> x) { return learn::evaluate(trees, x); }

// Targets 1, 1, 5, 7 at x = 1, 2, 3, 4: the squares are least when divided between 2 and 3; with
// leaves of two the means are 1 and 6.
TEST(Forest, ATreeDividesWhereSquaresAreLeast) {
  const BoostData data{{{1}, {2}, {3}, {4}}, {1, 1, 5, 7}, {1, 1, 1, 1}};
  const learn::Trees tree = grow_forest(data, {.least_rows = 2});
  ASSERT_EQ(tree.nodes.size(), 3U);
  EXPECT_FLOAT_EQ(tree.nodes[0].value, 2.5F);
  EXPECT_DOUBLE_EQ(told(tree, {0}), 1);
  EXPECT_DOUBLE_EQ(told(tree, {2.4}), 1);
  EXPECT_DOUBLE_EQ(told(tree, {2.6}), 6);
  EXPECT_DOUBLE_EQ(told(grow_forest(data, {.least_rows = 1}), {4}), 7);
  EXPECT_DOUBLE_EQ(told(grow_forest(data, {.least_rows = 1, .depth = 0}), {4}), 3.5);
}

TEST(Forest, EqualTargetsAreOneLeaf) {
  const BoostData data{{{1}, {2}, {3}}, {0.3, 0.3, 0.3}, {1, 1, 1}};
  EXPECT_EQ(grow_forest(data, {.least_rows = 1}).nodes.size(), 1U);
}

BoostData line() {
  BoostData data;
  for (int i = 0; i < 60; ++i) {
    data.features.push_back({static_cast<double>(i), static_cast<double>(i * 7 % 11)});
    data.targets.push_back(i);
    data.weights.push_back(1);
  }
  return data;
}

TEST(Forest, IsTheMeanOfItsTreesAndTheSameForTheSameSeed) {
  const ForestOptions options{.trees = 30, .least_rows = 2, .columns = 0.7, .seed = 4};
  const learn::Trees forest = grow_forest(line(), options);
  EXPECT_EQ(forest.roots.size(), 30U);
  ASSERT_TRUE(learn::is_sound(forest, 2));
  EXPECT_NEAR(told(forest, {30, 1}), 30, 3);
  const learn::Trees again = grow_forest(line(), options);
  EXPECT_EQ(told(forest, {11, 2}), told(again, {11, 2}));
  const learn::Trees other =
      grow_forest(line(), {.trees = 30, .least_rows = 2, .columns = 0.7, .seed = 5});
  EXPECT_NE(told(forest, {11, 2}), told(other, {11, 2}));
}

// Trees know nothing beyond what they saw.
TEST(Forest, DoesNotExtrapolate) {
  const learn::Trees forest = grow_forest(line(), {.trees = 10});
  EXPECT_LE(told(forest, {1000, 1}), 59);
}

}  // namespace
}  // namespace foretrain::train
