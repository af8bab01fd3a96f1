// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/hybrid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace foretrain::learn {
namespace {

// A tree of one leaf.
Trees constant(float base, float leaf) { return {base, {0}, {{-1, leaf, 0}}}; }

// x1 < 2 ? 1 : 3.
Trees step() { return {0, {0}, {{1, 2, 1}, {-1, 1, 0}, {-1, 3, 0}}}; }

// 0.25 (4 + 0.5 + 1) + 0.75 (0.5 + 1.5) = 1.375 + 1.5; where x1 is 2, the residual is 3 and the
// first term 0.25 * 7.5 = 1.875.
TEST(Hybrid, MixesCorrectedPhysicsWithTrees) {
  const Hybrid hybrid{0, 0.5, 0.25, step(), constant(0.5F, 1.5F)};
  EXPECT_DOUBLE_EQ(evaluate(hybrid, std::vector<double>{4, 1}), 2.875);
  EXPECT_DOUBLE_EQ(evaluate(hybrid, std::vector<double>{4, 2}), 3.375);
}

TEST(Hybrid, WithoutTreesIsPhysicsWithAnOffset) {
  const Hybrid hybrid{1, std::log(2), 1, {}, {}};
  EXPECT_DOUBLE_EQ(evaluate(hybrid, std::vector<double>{9, std::log(3)}), std::log(6));
}

// What has no weight is not looked at, however large it is.
TEST(Hybrid, WithoutWeightPhysicsDoesNotCount) {
  const Hybrid hybrid{0, 1e9, 0, constant(0, 1e9F), step()};
  EXPECT_EQ(evaluate(hybrid, std::vector<double>{1e9, 2}), 3);
}

TEST(Hybrid, OfFullWeightHasNoTreesOfItsOwn) {
  const Hybrid hybrid{0, 0, 1, {}, constant(0, 1e9F)};
  EXPECT_EQ(evaluate(hybrid, std::vector<double>{5, 2}), 5);
}

TEST(Hybrid, IsSoundOnlyWithItsPhysicsAndAShareAsWeight) {
  const Hybrid good{0, 0.5, 0.25, step(), step()};
  EXPECT_TRUE(is_sound(good, 2));
  EXPECT_FALSE(is_sound(good, 1));  // the trees know x1
  Hybrid bad = good;
  bad.physics = 2;
  EXPECT_FALSE(is_sound(bad, 2));
  bad.physics.reset();
  EXPECT_FALSE(is_sound(bad, 2));
  bad.weight = 0;
  EXPECT_TRUE(is_sound(bad, 2));
  for (const double weight : {-0.1, 1.1, std::nan("")}) {
    bad = good;
    bad.weight = weight;
    EXPECT_FALSE(is_sound(bad, 2)) << weight;
  }
  bad = good;
  bad.offset = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_sound(bad, 2));
  bad = good;
  bad.residual.nodes[0].left = 0;  // a circle
  EXPECT_FALSE(is_sound(bad, 2));
}

}  // namespace
}  // namespace foretrain::learn
