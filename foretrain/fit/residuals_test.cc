// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/residuals.h"

#include <gtest/gtest.h>

namespace foretrain::fit {
namespace {

// Weights 1, 1, 2: three quarters of the weight are not above 3 only with the last one.
TEST(Residuals, QuantilesAreOfTheWeight) {
  const std::vector<std::pair<double, double>> values{{1, 1}, {2, 1}, {3, 2}};
  EXPECT_EQ(weighted_quantile(values, 0.25), 1);
  EXPECT_EQ(weighted_quantile(values, 0.5), 2);
  EXPECT_EQ(weighted_quantile(values, 0.51), 3);
  EXPECT_EQ(weighted_quantile(values, 1), 3);
}

// Width 2; half a unit outside costs 20 times as much.
TEST(Residuals, TheScoreIsWidthAndWhatLiesOutside) {
  EXPECT_DOUBLE_EQ(interval_score(0, {-1, 1}, 0.9), 2);
  EXPECT_DOUBLE_EQ(interval_score(1.5, {-1, 1}, 0.9), 12);
  EXPECT_DOUBLE_EQ(interval_score(-1.5, {-1, 1}, 0.9), 12);
}

// 120 rows of a weigh 1 in all, 30 of b half as much; of a source that is left out nothing.
TEST(Residuals, SourcesWeighAlike) {
  Residuals residuals{{"a", "b"}, {}};
  for (int i = 0; i < 120; ++i) residuals.rows.push_back({0, {}, {}, 0});
  for (int i = 0; i < 30; ++i) residuals.rows.push_back({1, {}, {}, 0});
  const std::vector<double> weights = weights_of(residuals, 0);
  EXPECT_DOUBLE_EQ(weights.front(), 1.0 / 120);
  EXPECT_DOUBLE_EQ(weights.back(), 0.5 / 30);
  EXPECT_EQ(weights_of(residuals, bit(0)).front(), 0);
  EXPECT_DOUBLE_EQ(weights_of(residuals, bit(0)).back(), 0.5 / 30);
}

// 600 rows: every third one is kept, 200.
TEST(Residuals, LongSourcesAreThinned) {
  Residuals residuals{{"a", "b"}, {}};
  for (int i = 0; i < 600; ++i) residuals.rows.push_back({0, {}, {}, 0});
  residuals.rows.push_back({1, {}, {}, 0});
  EXPECT_EQ(thin(residuals).rows.size(), 201u);
}

// Sizes 0 to 99 of a; b, which is left out, is far off.
TEST(Residuals, OneRatioHoldsAShareOfTheOthers) {
  Residuals residuals{{"a", "b"}, {}};
  for (int i = 0; i < 100; ++i)
    residuals.rows.push_back({0, {}, {}, i % 2 == 0 ? 1.0 * i : -1.0 * i});
  for (int i = 0; i < 100; ++i) residuals.rows.push_back({1, {}, {}, 1000});
  EXPECT_EQ(constant_ratio(residuals, bit(1), 0.9), 89);
}

TEST(Residuals, ASourceHasOnePlace) {
  std::vector<std::string> sources;
  EXPECT_EQ(source_of("a", sources), 0);
  EXPECT_EQ(source_of("b", sources), 1);
  EXPECT_EQ(source_of("a", sources), 0);
  EXPECT_EQ(sources.size(), 2u);
}

}  // namespace
}  // namespace foretrain::fit
