// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/conformal.h"

#include <gtest/gtest.h>

namespace foretrain::fit {
namespace {

Residual row(int source, const std::string& bound, double log_ratio,
             const std::string& chip = "t4") {
  Residual made{source, {}, chip, log_ratio};
  word(made.regime, Trait::Bound) = bound;
  return made;
}

// Four sources with the same errors: evenly from -0.1 to 0.1 where arithmetic binds and from -1 to
// 1 where the host does; 41 rows each.
Residuals two_regimes() {
  Residuals residuals{{"a", "b", "c", "d"}, {}};
  for (int source = 0; source < 4; ++source) {
    for (int i = -20; i <= 20; ++i) {
      residuals.rows.push_back(row(source, "compute", 0.005 * i));
      residuals.rows.push_back(row(source, "host", 0.05 * i));
    }
  }
  return residuals;
}

// Weights 1, 1, 2: three quarters of the weight are not above 3 only with the last one.
TEST(Conformal, QuantilesAreOfTheWeight) {
  const std::vector<std::pair<double, double>> values{{1, 1}, {2, 1}, {3, 2}};
  EXPECT_EQ(weighted_quantile(values, 0.25), 1);
  EXPECT_EQ(weighted_quantile(values, 0.5), 2);
  EXPECT_EQ(weighted_quantile(values, 0.51), 3);
  EXPECT_EQ(weighted_quantile(values, 1), 3);
}

// Width 2; half a unit outside costs 20 times as much.
TEST(Conformal, TheScoreIsWidthAndWhatLiesOutside) {
  EXPECT_DOUBLE_EQ(interval_score(0, -1, 1, 0.9), 2);
  EXPECT_DOUBLE_EQ(interval_score(1.5, -1, 1, 0.9), 12);
  EXPECT_DOUBLE_EQ(interval_score(-1.5, -1, 1, 0.9), 12);
}

// A tail of 5 % of 41 values leaves two out on each side: the third is +-0.09 and +-0.9.
TEST(Conformal, CellsHaveTheQuantilesOfTheirRegime) {
  const Rule rule{{Trait::Bound}, 0.05};
  ConformalOptions options;
  options.coarser = 0;
  const auto cells = fit_cells(two_regimes(), rule, 0, options);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_NEAR(cells.at("compute").low, -0.09, 1e-12);
  EXPECT_NEAR(cells.at("compute").high, 0.09, 1e-12);
  EXPECT_NEAR(cells.at("host").high, 0.9, 1e-12);
  EXPECT_EQ(cells.at("").rows, 328u);
  EXPECT_EQ(cells.at("host").sources, 4u);
}

// Only a, as one source, knows the host regime; all rows, half of them a's, count as two more: two
// thirds of the weight lie at -1, a third at 1.
TEST(Conformal, ARegimeOfOneSourceLeansOnAll) {
  Residuals residuals{{"a", "b"}, {}};
  for (int i = 0; i < 60; ++i) {
    residuals.rows.push_back(row(0, "host", -1));
    residuals.rows.push_back(row(1, "compute", 1));
  }
  EXPECT_EQ(fit_cells(residuals, {{Trait::Bound}, 0.3}, 0, {}).at("host").high, 1);
  EXPECT_EQ(fit_cells(residuals, {{Trait::Bound}, 0.35}, 0, {}).at("host").high, 0);
}

// One row of each source is a sixtieth of one: 4 / 60 of a source against two of all rows.
TEST(Conformal, FewRowsCountLittle) {
  Residuals residuals = two_regimes();
  for (int source = 0; source < 4; ++source) residuals.rows.push_back(row(source, "memory", 5));
  EXPECT_LT(fit_cells(residuals, {{Trait::Bound}, 0.1}, 0, {}).at("memory").high, 1.01);
}

// Source b repeats one value 600 times: it weighs as 60 rows of 60 + 82, so the median of all
// stays inside a's values instead of being b's.
TEST(Conformal, ASourceOfManyRowsDoesNotDrownTheOthers) {
  Residuals residuals{{"a", "b"}, {}};
  for (int i = 0; i < 82; ++i) residuals.rows.push_back(row(0, "host", -0.01 * i));
  for (int i = 0; i < 600; ++i) residuals.rows.push_back(row(1, "host", 1));
  ConformalOptions options;
  options.most_rows = 60;
  const auto cells = fit_cells(residuals, {{}, 0.5}, 0, options);
  EXPECT_LT(cells.at("").high, 0.5);
}

TEST(Conformal, TheTraitThatExplainsTheErrorsIsChosen) {
  ConformalOptions options;
  options.most_traits = 3;
  const Rule rule = choose_rule(two_regimes(), 0, options);
  ASSERT_EQ(rule.traits.size(), 1u);
  EXPECT_EQ(rule.traits[0], Trait::Bound);
}

// A fifth source that is far off changes nothing about its own interval.
TEST(Conformal, ASourceIsNoPartOfItsOwnInterval) {
  Residuals residuals = two_regimes();
  const auto before = leave_sources_out(residuals, {});
  residuals.sources.push_back("e");
  for (int i = 0; i < 50; ++i) residuals.rows.push_back(row(4, "compute", 7));
  const auto after = leave_sources_out(residuals, {});
  EXPECT_LT(after.back().cell.high, 1.01);
  EXPECT_LT(after.back().constant, 1.01);
  EXPECT_GT(after.front().cell.high, before.front().cell.high);
}

// The device is on two sources: leaving one out, it is new for the other's rows.
TEST(Conformal, ADeviceOfNoOtherSourceIsNew) {
  Residuals residuals{{"a", "b", "c"}, {}};
  for (int i = 0; i < 30; ++i) {
    residuals.rows.push_back(row(0, "host", 0.1, "t4"));
    residuals.rows.push_back(row(1, "host", 0.1, "t4"));
    residuals.rows.push_back(row(2, "host", 0.9, "k80"));
  }
  const Rule rule{{Trait::Seen}, 0.05};
  EXPECT_TRUE(fit_cells(residuals, rule, 0, {}).contains("seen"));
  EXPECT_FALSE(fit_cells(residuals, rule, 1, {}).contains("seen"));
}

// Symmetric errors: the median is 0, and the coarse regime's quantiles are wider than those where
// arithmetic binds.
TEST(Conformal, QuantilesAreThoseOfEachRegime) {
  const auto quantiles =
      fit_quantiles(two_regimes(), {{Trait::Bound}, 0.05}, {0.05, 0.5, 0.95}, {});
  EXPECT_NEAR(quantiles.at("")[1], 0, 1e-12);
  EXPECT_NEAR(quantiles.at("compute")[0], -quantiles.at("compute")[2], 0.01);
  EXPECT_LT(quantiles.at("compute")[2], quantiles.at("")[2]);
  EXPECT_LT(quantiles.at("")[2], quantiles.at("host")[2] + 1e-12);
}

}  // namespace
}  // namespace foretrain::fit
