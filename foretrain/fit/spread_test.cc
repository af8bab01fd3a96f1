// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/spread.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::fit {
namespace {

Residual row(int source, const std::string& family, double host, double log_ratio) {
  Residual made{source, {}, {.host = host}, log_ratio};
  word(made.regime, Trait::Family) = family;
  return made;
}

// Sources with the same errors: evenly from -0.1 to 0.1 of cnns, from -0.4 to 0.4 of others.
Residuals two_families(int sources) {
  Residuals residuals;
  for (int source = 0; source < sources; ++source) {
    residuals.sources.push_back(std::string(1, static_cast<char>('a' + source)));
    for (int i = -50; i <= 50; ++i) {
      residuals.rows.push_back(row(source, "cnn", 0, 0.002 * i));
      residuals.rows.push_back(row(source, "other", 0, 0.008 * i));
    }
  }
  return residuals;
}

double width_of(const Spread& spread, const Residual& row) {
  const Ends ends = ends_of(spread, row.regime, row.shares);
  return ends.high - ends.low;
}

double covered(const Residuals& residuals, const std::vector<LeftOut>& left_out) {
  double inside = 0;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const double value = residuals.rows[i].log_ratio;
    inside += value >= left_out[i].ends.low && value <= left_out[i].ends.high ? 1 : 0;
  }
  return inside / static_cast<double>(left_out.size());
}

// Errors of the second family are four times as large; penalties keep the ratio somewhat lower.
TEST(FitSpread, WidthsFollowTheErrors) {
  const Spread spread = fit_spread(two_families(4), 0, {});
  const double cnn = width_of(spread, row(0, "cnn", 0, 0));
  const double other = width_of(spread, row(0, "other", 0, 0));
  EXPECT_GT(other / cnn, 2);
  EXPECT_LT(other / cnn, 4);
}

// Sources alike: each, left out, is covered as promised, to a row or two of each family.
TEST(FitSpread, SourcesAreCoveredAsPromised) {
  const Residuals residuals = two_families(5);
  EXPECT_NEAR(covered(residuals, leave_sources_out(residuals, SpreadFit{})), 0.9, 0.02);
  SpreadFit half;
  half.confidence = 0.5;
  EXPECT_NEAR(covered(residuals, leave_sources_out(residuals, half)), 0.5, 0.03);
}

// Errors that grow with the share of the step that waits for the host.
TEST(FitSpread, AShareMakesIntervalsWider) {
  Residuals residuals{{"a", "b", "c"}, {}};
  for (int source = 0; source < 3; ++source) {
    for (int i = -100; i <= 100; ++i) {
      const double host = 0.01 * std::abs(i % 100);
      residuals.rows.push_back(row(source, "cnn", host, (i < 0 ? -1 : 1) * 0.1 * std::exp(host)));
    }
  }
  const Spread spread = fit_spread(residuals, 0, {});
  EXPECT_GT(spread.host.width, 0.3);
  EXPECT_GT(width_of(spread, row(0, "cnn", 1, 0)), width_of(spread, row(0, "cnn", 0, 0)));
}

// Steps take longer than predicted, never less: the upper end is farther off.
TEST(FitSpread, EndsNeedNotBeSymmetric) {
  Residuals residuals{{"a", "b", "c"}, {}};
  for (int source = 0; source < 3; ++source) {
    for (int i = 0; i < 100; ++i) residuals.rows.push_back(row(source, "cnn", 0, 0.005 * i));
  }
  const Ends ends = ends_of(fit_spread(residuals, 0, {}), residuals.rows[0].regime, {});
  EXPECT_GT(ends.high, 0.4);
  EXPECT_GT(ends.low, -0.2);
  EXPECT_LT(ends.low, 0);
}

// A source that is far off changes nothing about its own interval
TEST(FitSpread, ASourceIsNoPartOfItsOwnInterval) {
  Residuals residuals = two_families(4);
  const auto before = leave_sources_out(residuals, SpreadFit{});
  residuals.sources.emplace_back("far");
  for (int i = 0; i < 100; ++i) residuals.rows.push_back(row(4, "cnn", 0, 3));
  const auto after = leave_sources_out(residuals, SpreadFit{});
  EXPECT_LT(after.back().ends.high, 0.2);
  EXPECT_GT(after.front().ends.high, before.front().ends.high);
}

TEST(FitSpread, TheSameRowsGiveTheSameNumbers) {
  const Spread one = fit_spread(two_families(3), 0, {});
  const Spread two = fit_spread(two_families(3), 0, {});
  EXPECT_EQ(one.base.width, two.base.width);
  EXPECT_EQ(one.words.at(Trait::Family).at("cnn").width,
            two.words.at(Trait::Family).at("cnn").width);
}

}  // namespace
}  // namespace foretrain::fit
