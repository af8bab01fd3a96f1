// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/detail/two_means.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace foretrain::resource {
namespace {

TEST(TwoMeans, NeedsTwoDifferentValues) {
  EXPECT_FALSE(two_means({}));
  EXPECT_FALSE(two_means({3}));
  EXPECT_FALSE(two_means({3, 3, 3}));
}

// {0, 1, 2 | 10, 12}: centres 1 and 11.
TEST(TwoMeans, MatchesHandCalculation) {
  const auto centres = two_means({10, 1, 12, 0, 2});
  ASSERT_TRUE(centres);
  EXPECT_DOUBLE_EQ(centres->low, 1);
  EXPECT_DOUBLE_EQ(centres->high, 11);
}

// {0 | 1, 2} and {0, 1 | 2} are equally good: the lower division is taken, centres 0 and 1.5.
TEST(TwoMeans, TieTakesTheLowerDivision) {
  for (const double unit : {1.0, 0.1, 0.3, 1e9}) {
    const auto centres = two_means({0, unit, 2 * unit});
    ASSERT_TRUE(centres);
    EXPECT_NEAR(centres->low, 0, 1e-12 * unit);
    EXPECT_NEAR(centres->high, 1.5 * unit, 1e-12 * unit);
  }
}

// A large offset must not hide a small difference: {1e9, 1e9 + 1}.
TEST(TwoMeans, KeepsItsDigitsBesideALargeOffset) {
  const auto centres = two_means({1e9, 1e9 + 1, 1e9, 1e9 + 1});
  ASSERT_TRUE(centres);
  EXPECT_EQ(centres->low, 1e9);
  EXPECT_EQ(centres->high, 1e9 + 1);
}

double spread_within(const std::vector<double>& values, double low, double high) {
  double spread = 0;
  for (const double value : values) {
    spread += std::min((value - low) * (value - low), (value - high) * (value - high));
  }
  return spread;
}

// No pair of centres among 400 random ones is better than the result.
TEST(TwoMeansLaws, NoOtherCentresAreBetter) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> values(20);
    for (double& value : values) value = uniform(random);
    const auto centres = two_means(values);
    ASSERT_TRUE(centres);
    const double best = spread_within(values, centres->low, centres->high);
    for (int other = 0; other < 400; ++other) {
      ASSERT_LE(best, spread_within(values, uniform(random), uniform(random)) + 1e-12);
    }
  }
}

}  // namespace
}  // namespace foretrain::resource
