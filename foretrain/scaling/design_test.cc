// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/design.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "foretrain/base/error.h"

namespace foretrain::scaling {
namespace {

// One run tells the first weight, the other the second: least of 1 / a + 1 / b.
//   a + b = 1: by symmetry a = b = 1/2.
//   a + 4 b = 1: 1 / a^2 = u and 1 / b^2 = 4 u, so a = 2 b; 6 b = 1.
//   a + 0.1 b = 1.02: a = b sqrt(0.1) would give b = 2.45 above 1, so b = 1 and a = 0.92.
TEST(Design, SharesAreWhatLagrangeSays) {
  const std::vector<std::vector<double>> unit{{1, 0}, {0, 1}};
  const std::vector<double> even = optimal_shares(unit, {1, 1}, 1);
  EXPECT_NEAR(even[0], 0.5, 1e-6);
  EXPECT_NEAR(even[1], 0.5, 1e-6);
  const std::vector<double> dear = optimal_shares(unit, {1, 4}, 1);
  EXPECT_NEAR(dear[0], 1.0 / 3, 1e-6);
  EXPECT_NEAR(dear[1], 1.0 / 6, 1e-6);
  const std::vector<double> cut = optimal_shares(unit, {1, 0.1}, 1.02);
  EXPECT_NEAR(cut[0], 0.92, 1e-6);
  EXPECT_NEAR(cut[1], 1, 1e-6);
  EXPECT_EQ(optimal_shares(unit, {1, 1}, 2), (std::vector<double>{1, 1}));
}

// A run between two others tells less than they do: (1, 0), (0, 1) and (0.5, 0.5) at equal cost.
TEST(Design, LeavesOutWhatTellsLittle) {
  const std::vector<double> shares = optimal_shares({{1, 0}, {0, 1}, {0.5, 0.5}}, {1, 1, 1}, 1);
  EXPECT_NEAR(shares[0], 0.5, 1e-3);
  EXPECT_LT(shares[2], 1e-3);
}

// Two orthogonal runs, the first made twice: 1 / 2 + 1.
TEST(Design, VarianceOfWholeRuns) {
  EXPECT_NEAR(variance_sum({{1, 0}, {0, 1}}, {0, 0, 1}), 1.5, 1e-12);
  EXPECT_TRUE(std::isinf(variance_sum({{1, 0}, {0, 1}}, {0, 0})));
}

// What one worker needs for the fraction, and a start of every worker.
std::vector<Candidate> grid() {
  std::vector<Candidate> candidates;
  for (const double workers : {1, 2, 4, 8, 16, 32}) {
    for (const double fraction : {0.02, 0.05, 0.1, 0.2}) {
      candidates.push_back({workers, fraction, fraction + 0.005 * workers});
    }
  }
  return candidates;
}

TEST(Design, StaysWithinItsBudgetAndDeterminesAllWeights) {
  const Design design = design_runs(grid(), 0.8);
  EXPECT_LE(design.cost, 0.8 + 1e-9);
  EXPECT_GE(design.runs.size(), 4U);
  EXPECT_TRUE(std::isfinite(design.variance));
  // More money never makes it worse.
  EXPECT_LE(design_runs(grid(), 1.6).variance, design.variance);
}

// Designs drawn at random that spend the same budget: nine of ten have a larger variance.
TEST(Design, BeatsRandomDesignsOfEqualCost) {
  const std::vector<Candidate> candidates = grid();
  std::vector<std::vector<double>> features;
  for (const Candidate& one : candidates) features.push_back(ernest_features(one));
  constexpr double kBudget = 0.8;
  const double ours = design_runs(candidates, kBudget).variance;
  std::mt19937_64 engine(1);
  int better = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine);
    std::vector<std::size_t> runs;
    double cost = 0;
    for (const std::size_t run : order) {
      if (cost + candidates[run].cost > kBudget) continue;
      runs.push_back(run);
      cost += candidates[run].cost;
    }
    better += variance_sum(features, runs) < ours ? 1 : 0;
  }
  EXPECT_LT(better, 20);
}

TEST(Design, RefusesWhatCannotBe) {
  EXPECT_THROW(design_runs({}, 1), Error);
  EXPECT_THROW(design_runs(grid(), 0), Error);
  EXPECT_THROW(design_runs(grid(), 0.05), Error);  // not four runs
  EXPECT_THROW(design_runs({{0, 1, 1}}, 1), Error);
  EXPECT_THROW(design_runs({{1, 2, 1}}, 1), Error);
  EXPECT_THROW(design_runs({kMostCandidates + 1, {2, 0.5, 1}}, 10), Error);
}

}  // namespace
}  // namespace foretrain::scaling
