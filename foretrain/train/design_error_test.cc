// SPDX-License-Identifier: Apache-2.0
// What a design is for: Ernest's law from its runs predicts other runs better than from runs drawn
// at random for the same cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "foretrain/scaling/design.h"
#include "foretrain/train/linear.h"

namespace foretrain::train {
namespace {

using scaling::Candidate;

double true_s(const Candidate& one) {
  return 3 + 200 * one.fraction / one.workers + 2 * std::log(one.workers) + 0.1 * one.workers;
}

std::vector<Candidate> candidates() {
  std::vector<Candidate> result;
  for (const double workers : {1, 2, 4, 8, 16, 32, 64}) {
    for (const double fraction : {0.01, 0.02, 0.05, 0.1}) {
      result.push_back({workers, fraction, fraction + 0.002 * workers});
    }
  }
  return result;
}

// Mean error on whole data sets on 1 to 64 workers, when each run is measured with 5 % noise.
double error_of(const std::vector<Candidate>& all, const std::vector<std::size_t>& runs,
                std::mt19937_64& engine) {
  std::normal_distribution<double> noise(0, 0.05);
  BoostData data;
  for (const std::size_t run : runs) {
    const std::vector<double> features = scaling::ernest_features(all[run]);
    data.features.emplace_back(features.begin() + 1, features.end());
    data.targets.push_back(true_s(all[run]) * std::exp(noise(engine)));
    data.weights.push_back(1);
  }
  const learn::LinearModel model = fit_nonnegative(data);
  double sum = 0;
  for (int workers = 1; workers <= 64; ++workers) {
    const Candidate whole{static_cast<double>(workers), 1, 1};
    const std::vector<double> features = scaling::ernest_features(whole);
    const double told = learn::evaluate(model, std::span(features).subspan(1));
    sum += std::abs(told / true_s(whole) - 1) / 64;
  }
  return sum;
}

std::vector<std::size_t> drawn(const std::vector<Candidate>& all, double budget,
                               std::mt19937_64& engine) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), engine);
  std::vector<std::size_t> runs;
  double cost = 0;
  for (const std::size_t run : order) {
    if (cost + all[run].cost > budget) continue;
    runs.push_back(run);
    cost += all[run].cost;
  }
  return runs;
}

TEST(DesignError, IsLessThanThatOfRandomDesignsOfEqualCost) {
  const std::vector<Candidate> all = candidates();
  constexpr double kBudget = 0.5;
  const std::vector<std::size_t> ours = scaling::design_runs(all, kBudget).runs;
  std::mt19937_64 engine(7);
  double designed = 0;
  double random = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    designed += error_of(all, ours, engine) / kTrials;
    random += error_of(all, drawn(all, kBudget, engine), engine) / kTrials;
  }
  EXPECT_LT(designed, random);
  EXPECT_LT(designed, 0.25);
}

}  // namespace
}  // namespace foretrain::train
