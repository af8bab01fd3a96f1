// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/bursts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>

namespace foretrain::resource {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Piece {
  int samples = 0;
  double amount = 0;
};

std::vector<double> samples_of(const std::vector<Piece>& pieces) {
  std::vector<double> samples;
  for (const Piece& piece : pieces) {
    samples.insert(samples.end(), static_cast<std::size_t>(piece.samples), piece.amount);
  }
  return samples;
}

std::vector<double> square_wave(int burst, int idle, double high, double low, int cycles) {
  std::vector<Piece> pieces;
  for (int i = 0; i < cycles; ++i) {
    pieces.push_back({burst, high});
    pieces.push_back({idle, low});
  }
  return samples_of(pieces);
}

TEST(SplitBursts, PatternsHaveNames) {
  EXPECT_STREQ(to_string(Pattern::B), "B");
  EXPECT_STREQ(to_string(Pattern::I), "I");
  EXPECT_STREQ(to_string(Pattern::BIB), "BIB");
}

// Five cycles of 7 samples at 0.9 and 3 at 0.1, 10 ms each: 70 ms and 30 ms.
TEST(SplitBursts, RecoversASquareWave) {
  const auto bursts = split_bursts(square_wave(7, 3, 0.9, 0.1, 5), {});
  ASSERT_TRUE(bursts);
  EXPECT_EQ(bursts->pattern, Pattern::BIB);
  EXPECT_DOUBLE_EQ(bursts->burst_amount.value(), 0.9);
  EXPECT_DOUBLE_EQ(bursts->idle_amount.value(), 0.1);
  EXPECT_DOUBLE_EQ(bursts->burst->count(), 0.07);
  EXPECT_DOUBLE_EQ(bursts->idle->count(), 0.03);
}

// Without smoothing runs of any length; smoothed over three samples from three on, over five from
// eight on: see the header.
TEST(SplitBursts, RecoversSquareWavesOfAnyDutyUnderSmoothing) {
  const auto check = [](int smoothing, int shortest) {
    const SplitOptions options{.smoothing = Seconds{0.01 * smoothing}, .scale = 100};
    for (int burst = shortest; burst < 60; burst += 1 + burst / 4) {
      for (int idle = shortest; idle < 60; idle += 1 + idle / 4) {
        const auto bursts = split_bursts(square_wave(burst, idle, 98.8, 14.6, 8), options);
        ASSERT_TRUE(bursts);
        ASSERT_NEAR(bursts->burst_amount.value(), 98.8, 1e-9) << smoothing << ' ' << burst;
        ASSERT_NEAR(bursts->idle_amount.value(), 14.6, 1e-9) << smoothing << ' ' << idle;
        ASSERT_DOUBLE_EQ(bursts->burst->count(), 0.01 * burst) << smoothing << ' ' << idle;
        ASSERT_DOUBLE_EQ(bursts->idle->count(), 0.01 * idle) << smoothing << ' ' << burst;
      }
    }
  };
  check(0, 1);
  check(3, 3);
  check(5, 8);
}

// Complete runs: idle 2, burst 4, idle 6, burst 2. The first burst of 9 and the last idle of 9
// are incomplete. Burst (4 + 2)/2 = 3 samples, idle (2 + 6)/2 = 4; the burst amount is the mean of
// samples, (4 * 0.8 + 2 * 1.0)/6 = 5.2/6.
TEST(SplitBursts, DropsIncompleteRunsAndAveragesTheRest) {
  const auto bursts = split_bursts(
      samples_of({{9, 1.0}, {2, 0}, {4, 0.8}, {6, 0}, {2, 1.0}, {9, 0}}), {.window = Seconds{1}});
  ASSERT_TRUE(bursts);
  EXPECT_DOUBLE_EQ(bursts->burst->count(), 3);
  EXPECT_DOUBLE_EQ(bursts->idle->count(), 4);
  EXPECT_DOUBLE_EQ(bursts->burst_amount.value(), 5.2 / 6);
  EXPECT_DOUBLE_EQ(bursts->idle_amount.value(), 0);
}

// The same samples: bursts of 4 at 0.8 and 2 at 1.0, idles of 2 and 6 at 0. Of two values the
// sample standard deviation is their difference over the root of two.
TEST(SplitBursts, SpreadIsTakenOverCompleteRuns) {
  const auto bursts = split_bursts(
      samples_of({{9, 1.0}, {2, 0}, {4, 0.8}, {6, 0}, {2, 1.0}, {9, 0}}), {.window = Seconds{1}});
  ASSERT_TRUE(bursts);
  EXPECT_NEAR(bursts->burst_amount_sd.value(), 0.2 / std::sqrt(2), 1e-12);
  EXPECT_NEAR(bursts->burst_sd->count(), 2 / std::sqrt(2), 1e-12);
  EXPECT_DOUBLE_EQ(bursts->idle_amount_sd.value(), 0);
  EXPECT_NEAR(bursts->idle_sd->count(), 4 / std::sqrt(2), 1e-12);
}

TEST(SplitBursts, OneRunHasNoSpread) {
  const auto bursts = split_bursts(samples_of({{5, 0.1}, {3, 0.9}, {5, 0.2}}), {});
  ASSERT_TRUE(bursts);
  EXPECT_FALSE(bursts->burst_amount_sd);
  EXPECT_FALSE(bursts->burst_sd);
  EXPECT_FALSE(bursts->idle_sd);
}

// Two switches: the burst in the middle is complete, the idles around it are not.
TEST(SplitBursts, AStateWithoutACompleteRunHasNoDuration) {
  const auto bursts =
      split_bursts(samples_of({{5, 0.1}, {3, 0.9}, {5, 0.2}}), {.window = Seconds{1}});
  ASSERT_TRUE(bursts);
  EXPECT_EQ(bursts->pattern, Pattern::BIB);
  EXPECT_DOUBLE_EQ(bursts->burst->count(), 3);
  EXPECT_FALSE(bursts->idle);
  EXPECT_DOUBLE_EQ(bursts->idle_amount.value(), 0.15);
}

TEST(SplitBursts, OneSwitchGivesAmountsWithoutDurations) {
  const auto bursts = split_bursts(samples_of({{5, 0.1}, {3, 0.9}}), {});
  ASSERT_TRUE(bursts);
  EXPECT_EQ(bursts->pattern, Pattern::BIB);
  EXPECT_DOUBLE_EQ(bursts->burst_amount.value(), 0.9);
  EXPECT_DOUBLE_EQ(bursts->idle_amount.value(), 0.1);
  EXPECT_FALSE(bursts->burst);
  EXPECT_FALSE(bursts->idle);
}

void expect_one_state(const std::vector<double>& samples, Pattern pattern, double amount,
                      const SplitOptions& options = {}) {
  const auto bursts = split_bursts(samples, options);
  ASSERT_TRUE(bursts);
  EXPECT_EQ(bursts->pattern, pattern);
  const auto& own = pattern == Pattern::B ? bursts->burst_amount : bursts->idle_amount;
  const auto& other = pattern == Pattern::B ? bursts->idle_amount : bursts->burst_amount;
  EXPECT_NEAR(own.value(), amount, 1e-12);
  EXPECT_FALSE(other);
  EXPECT_FALSE(bursts->burst);
  EXPECT_FALSE(bursts->idle);
}

TEST(SplitBursts, OneStateIsBurstAboveHalfTheScale) {
  expect_one_state({0.9}, Pattern::B, 0.9);
  expect_one_state({0.5}, Pattern::I, 0.5);
  expect_one_state(std::vector<double>(50, 0.0), Pattern::I, 0);
  expect_one_state(std::vector<double>(50, 1.0), Pattern::B, 1);
  // Of 100, a tenth is 10: 90 and 99 are one state.
  expect_one_state(square_wave(5, 5, 99, 90, 4), Pattern::B, 94.5, {.scale = 100});
  // 9 MB/s on a link of 100 MB/s is idle, whatever it does below.
  expect_one_state(square_wave(5, 5, 9e6, 0, 4), Pattern::I, 4.5e6, {.scale = 1e8});
}

TEST(SplitBursts, CentresATenthApartAreTwoStates) {
  const auto bursts = split_bursts(square_wave(5, 5, 0.75, 0.5, 4), {.scale = 2.5});
  ASSERT_TRUE(bursts);
  EXPECT_EQ(bursts->pattern, Pattern::BIB);
}

TEST(SplitBursts, NothingFiniteGivesNothing) {
  EXPECT_FALSE(split_bursts({}, {}));
  EXPECT_FALSE(split_bursts({kNan, kInf, -kInf}, {}));
}

// A sample that is not finite keeps its place: the burst of 3 stays 3 samples long.
TEST(SplitBursts, SamplesThatAreNotFiniteKeepTheirPlace) {
  for (const double bad : {kNan, kInf, -kInf}) {
    for (const double smoothing : {0.0, 0.03}) {
      const auto bursts = split_bursts({bad, 0, 0, 0, 0, 1, bad, 1, 0, 0, bad, 0, 1, 1, 1, 1, bad},
                                       {.smoothing = Seconds{smoothing}});
      ASSERT_TRUE(bursts);
      EXPECT_EQ(bursts->pattern, Pattern::BIB);
      EXPECT_DOUBLE_EQ(bursts->burst_amount.value(), 1);
      EXPECT_DOUBLE_EQ(bursts->idle_amount.value(), 0);
      EXPECT_DOUBLE_EQ(bursts->burst->count(), 0.03);
      EXPECT_DOUBLE_EQ(bursts->idle->count(), 0.04);
    }
  }
}

// A dip of one sample inside bursts of ten is merged: (4 + 1 + 5) = 10 samples, whose mean
// is 9/10. At exactly the shortest length a run stays.
TEST(SplitBursts, MergesRunsThatAreTooShort) {
  std::vector<Piece> pieces;
  for (int i = 0; i < 6; ++i) pieces.insert(pieces.end(), {{4, 1}, {1, 0}, {5, 1}, {3, 0}});
  const auto merged = split_bursts(samples_of(pieces), {.shortest_run = Seconds{0.03}});
  ASSERT_TRUE(merged);
  EXPECT_DOUBLE_EQ(merged->burst->count(), 0.1);
  EXPECT_DOUBLE_EQ(merged->idle->count(), 0.03);
  EXPECT_DOUBLE_EQ(merged->burst_amount.value(), 0.9);
  EXPECT_DOUBLE_EQ(merged->idle_amount.value(), 0);
}

// 8 idle, a spike of 1, 8 idle: one run is left, so one state with mean 1/17.
TEST(SplitBursts, ASpikeThatIsMergedLeavesOneState) {
  expect_one_state(samples_of({{8, 0}, {1, 1}, {8, 0}}), Pattern::I, 1.0 / 17,
                   {.shortest_run = Seconds{0.02}});
}

TEST(SplitBursts, ShortRunsAtTheEndsAreNotMerged) {
  const auto bursts = split_bursts(samples_of({{1, 1}, {6, 0}, {5, 1}, {6, 0}, {1, 1}}),
                                   {.shortest_run = Seconds{0.03}});
  ASSERT_TRUE(bursts);
  EXPECT_DOUBLE_EQ(bursts->idle->count(), 0.06);
  EXPECT_DOUBLE_EQ(bursts->burst->count(), 0.05);
}

// A rate that comes in spikes of full scale every second sample is one burst once smoothed.
TEST(SplitBursts, SmoothingJoinsSpikes) {
  std::vector<double> samples;
  for (int cycle = 0; cycle < 6; ++cycle) {
    for (int i = 0; i < 30; ++i) samples.push_back(i % 2 == 0 ? 1.0 : 0.0);
    samples.insert(samples.end(), 30, 0.0);
  }
  const auto bursts =
      split_bursts(samples, {.smoothing = Seconds{0.05}, .shortest_run = Seconds{0.05}});
  ASSERT_TRUE(bursts);
  EXPECT_NEAR(bursts->burst->count(), 0.30, 0.02);
  EXPECT_NEAR(bursts->idle->count(), 0.30, 0.02);
  EXPECT_NEAR(bursts->burst_amount.value(), 0.5, 0.03);
}

// Multiplying samples and scale changes the amounts alone.
TEST(SplitBurstsLaws, AmountsScaleAndDurationsStay) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<double> samples = square_wave(20, 13, 0.8, 0.2, 9);
  for (double& sample : samples) sample += noise(random);
  SplitOptions options{.smoothing = Seconds{0.03}, .shortest_run = Seconds{0.03}};
  const auto once = split_bursts(samples, options);
  for (double& sample : samples) sample *= 1024;
  options.scale *= 1024;
  const auto scaled = split_bursts(samples, options);
  ASSERT_TRUE(once && scaled);
  EXPECT_EQ(once->burst, scaled->burst);
  EXPECT_EQ(once->idle, scaled->idle);
  EXPECT_DOUBLE_EQ(once->burst_amount.value() * 1024, scaled->burst_amount.value());
  EXPECT_DOUBLE_EQ(once->burst->count(), 0.2);
  EXPECT_DOUBLE_EQ(once->idle->count(), 0.13);
}

TEST(SplitBurstsLaws, AnySamplesGiveAPatternWithItsAmounts) {
  std::mt19937 random(6);
  const std::vector<double> pool{0, 1, 0.5, 0.25, -1, kNan, kInf, 1e300, -1e300, 1e-300};
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> samples(random() % 12);
    for (double& sample : samples) sample = pool[random() % pool.size()];
    const Seconds smoothing{0.01 * static_cast<double>(random() % 6)};
    const Seconds shortest{0.01 * static_cast<double>(random() % 6)};
    const auto bursts = split_bursts(samples, {.smoothing = smoothing, .shortest_run = shortest});
    if (!bursts) continue;
    EXPECT_EQ(bursts->burst_amount.has_value(), bursts->pattern != Pattern::I);
    EXPECT_EQ(bursts->idle_amount.has_value(), bursts->pattern != Pattern::B);
    EXPECT_GT(bursts->burst.value_or(Seconds{1}).count(), 0);
    EXPECT_GT(bursts->idle.value_or(Seconds{1}).count(), 0);
  }
}

// Ten samples: 1 of the first burst, then 3 idle, 4 busy, 2 idle: 5 of 10 in bursts.
TEST(SplitBursts, TheShareCountsIncompleteRunsToo) {
  const std::vector<double> samples{100, 0, 0, 0, 100, 100, 100, 100, 0, 0};
  EXPECT_DOUBLE_EQ(split_bursts(samples, {.scale = 100})->burst_share, 0.5);
  EXPECT_EQ(split_bursts({100, 100}, {.scale = 100})->burst_share, 1);
  EXPECT_EQ(split_bursts({0, 0}, {.scale = 100})->burst_share, 0);
}

}  // namespace
}  // namespace foretrain::resource
