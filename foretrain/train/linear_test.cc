// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace foretrain::train {
namespace {

BoostData rows(const std::vector<std::vector<double>>& features,
               const std::vector<double>& targets) {
  return {features, targets, std::vector<double>(targets.size(), 1)};
}

// y = 1 + 2 x through three points; with strength 1 the standardised weight is halved, so that the
// slope becomes 1 around the mean (1, 3): y = 2 + x.
TEST(Linear, RidgeIsLeastSquaresShrunk) {
  const BoostData data = rows({{0}, {1}, {2}}, {1, 3, 5});
  const learn::LinearModel plain = fit_ridge(data, 0);
  EXPECT_NEAR(plain.intercept, 1, 1e-8);
  EXPECT_NEAR(plain.weights[0], 2, 1e-8);
  const learn::LinearModel shrunk = fit_ridge(data, 1);
  EXPECT_NEAR(shrunk.intercept, 2, 1e-8);
  EXPECT_NEAR(shrunk.weights[0], 1, 1e-8);
}

TEST(Linear, RidgeGivesNoWeightToWhatDoesNotVary) {
  const learn::LinearModel model = fit_ridge(rows({{7, 0}, {7, 1}, {7, 2}}, {1, 3, 5}), 0);
  EXPECT_EQ(model.weights[0], 0);
  EXPECT_NEAR(model.weights[1], 2, 1e-8);
}

TEST(Linear, RidgeOfSomeFeaturesLeavesTheOthersOut) {
  const learn::LinearModel model = fit_ridge(rows({{0, 3}, {1, 1}, {2, 2}}, {1, 3, 5}), 0, {0});
  EXPECT_NEAR(model.weights[0], 2, 1e-8);
  EXPECT_EQ(model.weights[1], 0);
}

// A row that counts three times as much is the same as three rows.
TEST(Linear, WeightsCountAsRepeatedRows) {
  BoostData weighted = rows({{0}, {1}, {2}}, {1, 3, 6});
  weighted.weights = {1, 1, 3};
  const learn::LinearModel one = fit_ridge(weighted, 0);
  const learn::LinearModel other = fit_ridge(rows({{0}, {1}, {2}, {2}, {2}}, {1, 3, 6, 6, 6}), 0);
  EXPECT_NEAR(one.weights[0], other.weights[0], 1e-9);
  EXPECT_NEAR(one.intercept, other.intercept, 1e-9);
}

// Least squares of (0, 2), (1, 1), (2, 0) is y = 2 - x; without a negative weight the mean is left.
TEST(Linear, NonNegativeStopsAtZero) {
  const learn::LinearModel falling = fit_nonnegative(rows({{0}, {1}, {2}}, {2, 1, 0}));
  EXPECT_NEAR(falling.intercept, 1, 1e-9);
  EXPECT_EQ(falling.weights[0], 0);
  // y = 3 x1 + 5 is found exactly, with nothing left for x2.
  const learn::LinearModel exact =
      fit_nonnegative(rows({{1, 4}, {2, 1}, {3, 3}, {4, 9}}, {8, 11, 14, 17}));
  EXPECT_NEAR(exact.intercept, 5, 1e-6);
  EXPECT_NEAR(exact.weights[0], 3, 1e-6);
  EXPECT_NEAR(exact.weights[1], 0, 1e-6);
}

// Ernest's own form: 10 + 0.02 s / m + 3 log m + 0.5 m comes back from noiseless runs.
TEST(Linear, NonNegativeFindsErnestsWeights) {
  BoostData data;
  for (const double samples : {1000.0, 2000.0, 8000.0}) {
    for (const double machines : {1.0, 2.0, 4.0, 8.0, 16.0}) {
      data.features.push_back({samples / machines, std::log(machines), machines});
      data.targets.push_back(10 + 0.02 * samples / machines + 3 * std::log(machines) +
                             0.5 * machines);
      data.weights.push_back(1);
    }
  }
  const learn::LinearModel model = fit_nonnegative(data);
  EXPECT_NEAR(model.intercept, 10, 1e-4);
  EXPECT_NEAR(model.weights[0], 0.02, 1e-6);
  EXPECT_NEAR(model.weights[1], 3, 1e-4);
  EXPECT_NEAR(model.weights[2], 0.5, 1e-4);
}

TEST(Linear, LassoIsNonNegativeLeastSquaresThatForgets) {
  const BoostData data = rows({{1, 4}, {2, 1}, {3, 3}, {4, 9}}, {8, 11, 14, 17});
  const learn::LinearModel plain = fit_lasso(data, 0);
  EXPECT_NEAR(plain.weights[0], 3, 1e-3);
  EXPECT_NEAR(plain.weights[1], 0, 1e-3);
  const learn::LinearModel strong = fit_lasso(data, 1);
  EXPECT_EQ(strong.weights, (std::vector<double>{0, 0}));
  EXPECT_NEAR(strong.intercept, 12.5, 1e-6);  // the mean
}

// Of four features the target is made of the second and the fourth.
TEST(Linear, StepwiseChoosesWhatTheTargetIsMadeOf) {
  BoostData data;
  std::vector<std::size_t> fold;
  for (int i = 0; i < 40; ++i) {
    const double a = i % 7;
    const double b = i % 5;
    data.features.push_back({std::sin(i), a, std::cos(3 * i), b});
    data.targets.push_back(1 + 4 * a - 2 * b);
    data.weights.push_back(1);
    fold.push_back(static_cast<std::size_t>(i % 4));
  }
  const learn::LinearModel model = fit_stepwise(data, fold, 3);
  EXPECT_NEAR(model.weights[1], 4, 1e-3);
  EXPECT_NEAR(model.weights[3], -2, 1e-3);
  EXPECT_NEAR(model.weights[0], 0, 1e-3);
  EXPECT_NEAR(model.weights[2], 0, 1e-3);
  const learn::LinearModel one = fit_stepwise(data, fold, 1);
  EXPECT_EQ(std::count(one.weights.begin(), one.weights.end(), 0.0), 3);
}

}  // namespace
}  // namespace foretrain::train
