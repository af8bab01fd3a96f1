// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/conformal.h"

#include <gtest/gtest.h>

namespace foretrain::fit {
namespace {

Residual row(int source, const std::string& counter, double log_ratio) {
  Residual made{source, {}, {}, log_ratio};
  word(made.regime, Trait::Counter) = counter;
  return made;
}

// Four sources with the same errors: evenly from -0.1 to 0.1 where allocated bytes were counted and
// from -1 to 1 where used ones were; 41 rows each.
Residuals two_regimes() {
  Residuals residuals{{"a", "b", "c", "d"}, {}};
  for (int source = 0; source < 4; ++source) {
    for (int i = -20; i <= 20; ++i) {
      residuals.rows.push_back(row(source, "allocated", 0.005 * i));
      residuals.rows.push_back(row(source, "used", 0.05 * i));
    }
  }
  return residuals;
}

// A tail of 5 % of 41 values leaves two out on each side: the third is +-0.09 and +-0.9.
TEST(Conformal, CellsHaveTheQuantilesOfTheirRegime) {
  const Rule rule{{Trait::Counter}, 0.05};
  ConformalOptions options;
  options.coarser = 0;
  const auto cells = fit_cells(two_regimes(), rule, 0, options);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_NEAR(cells.at("allocated").low, -0.09, 1e-12);
  EXPECT_NEAR(cells.at("allocated").high, 0.09, 1e-12);
  EXPECT_NEAR(cells.at("used").high, 0.9, 1e-12);
  EXPECT_EQ(cells.at("").rows, 328u);
  EXPECT_EQ(cells.at("used").sources, 4u);
}

// Only a, as one source, counted used bytes; all rows, half of them a's, count as two more: two
// thirds of the weight lie at -1, a third at 1.
TEST(Conformal, ARegimeOfOneSourceLeansOnAll) {
  Residuals residuals{{"a", "b"}, {}};
  for (int i = 0; i < 60; ++i) {
    residuals.rows.push_back(row(0, "used", -1));
    residuals.rows.push_back(row(1, "allocated", 1));
  }
  EXPECT_EQ(fit_cells(residuals, {{Trait::Counter}, 0.3}, 0, {}).at("used").high, 1);
  EXPECT_EQ(fit_cells(residuals, {{Trait::Counter}, 0.35}, 0, {}).at("used").high, 0);
}

// One row of each source is a sixtieth of one: 4 / 60 of a source against two of all rows.
TEST(Conformal, FewRowsCountLittle) {
  Residuals residuals = two_regimes();
  for (int source = 0; source < 4; ++source) residuals.rows.push_back(row(source, "reserved", 5));
  EXPECT_LT(fit_cells(residuals, {{Trait::Counter}, 0.1}, 0, {}).at("reserved").high, 1.01);
}

// Source b repeats one value 600 times: it weighs as 60 rows of 60 + 82, so the median of all
// stays inside a's values instead of being b's.
TEST(Conformal, ASourceOfManyRowsDoesNotDrownTheOthers) {
  Residuals residuals{{"a", "b"}, {}};
  for (int i = 0; i < 82; ++i) residuals.rows.push_back(row(0, "used", -0.01 * i));
  for (int i = 0; i < 600; ++i) residuals.rows.push_back(row(1, "used", 1));
  const auto cells = fit_cells(residuals, {{}, 0.5}, 0, {});
  EXPECT_LT(cells.at("").high, 0.5);
}

TEST(Conformal, TheTraitThatExplainsTheErrorsIsChosen) {
  ConformalOptions options;
  options.most_traits = 3;
  const Rule rule = choose_rule(two_regimes(), 0, options);
  ASSERT_EQ(rule.traits.size(), 1u);
  EXPECT_EQ(rule.traits[0], Trait::Counter);
}

// A fifth source that is far off changes nothing about its own interval.
TEST(Conformal, ASourceIsNoPartOfItsOwnInterval) {
  Residuals residuals = two_regimes();
  const auto before = leave_sources_out(residuals, ConformalOptions{});
  residuals.sources.push_back("e");
  for (int i = 0; i < 50; ++i) residuals.rows.push_back(row(4, "allocated", 7));
  const auto after = leave_sources_out(residuals, ConformalOptions{});
  EXPECT_LT(after.back().ends.high, 1.01);
  EXPECT_LT(after.back().constant, 1.01);
  EXPECT_GT(after.front().ends.high, before.front().ends.high);
}

// Symmetric errors: the median is 0, and the coarse regime's quantiles are wider than those of
// allocated bytes.
TEST(Conformal, QuantilesAreThoseOfEachRegime) {
  const auto quantiles =
      fit_quantiles(two_regimes(), {{Trait::Counter}, 0.05}, {0.05, 0.5, 0.95}, {});
  EXPECT_NEAR(quantiles.at("")[1], 0, 1e-12);
  EXPECT_NEAR(quantiles.at("allocated")[0], -quantiles.at("allocated")[2], 0.01);
  EXPECT_LT(quantiles.at("allocated")[2], quantiles.at("")[2]);
  EXPECT_LT(quantiles.at("")[2], quantiles.at("used")[2] + 1e-12);
}

}  // namespace
}  // namespace foretrain::fit
