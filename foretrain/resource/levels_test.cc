// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "foretrain/resource/bursts.h"

namespace foretrain::resource {
namespace {

// Windows of 1 s: [0.5, 2.5) at 4 gives 2, 4, 2; [1, 2) at 1 adds 1 to the second.
TEST(SampleLevels, MatchesHandCalculation) {
  const auto samples = sample_levels({{Seconds{0.5}, Seconds{2.5}, 4}, {Seconds{1}, Seconds{2}, 1}},
                                     Seconds{4}, Seconds{1});
  EXPECT_EQ(samples, (std::vector<double>{2, 5, 2, 0}));
}

TEST(SampleLevels, LeavesOutWhatLiesOutside) {
  EXPECT_EQ(sample_levels({{Seconds{-3}, Seconds{9}, 2}}, Seconds{2.9}, Seconds{1}),
            (std::vector<double>{2, 2}));
  EXPECT_EQ(sample_levels({{Seconds{5}, Seconds{9}, 2}, {Seconds{1}, Seconds{1}, 2}}, Seconds{2},
                          Seconds{1}),
            (std::vector<double>{0, 0}));
  EXPECT_TRUE(sample_levels({{Seconds{0}, Seconds{1}, 2}}, Seconds{0.5}, Seconds{1}).empty());
  EXPECT_TRUE(sample_levels({}, Seconds{0}, Seconds{1}).empty());
}

TEST(SampleLevels, LevelInsideOneWindowIsAveraged) {
  EXPECT_DOUBLE_EQ(sample_levels({{Seconds{1.25}, Seconds{1.75}, 8}}, Seconds{3}, Seconds{1}).at(1),
                   4);
}

// 0.3 / 0.1 is slightly less than 3 in floating point: still three whole windows, exact levels.
TEST(SampleLevels, TimesJustBesideAWindowEdgeCountAsTheEdge) {
  const auto samples = sample_levels({{Seconds{0.1}, Seconds{0.3}, 5}}, Seconds{0.3}, Seconds{0.1});
  EXPECT_EQ(samples, (std::vector<double>{0, 5, 5}));
}

TEST(SampleLevels, IsExactlyZeroWhereNothingIsLeft) {
  const auto samples = sample_levels(
      {{Seconds{0}, Seconds{2}, 0.1}, {Seconds{0}, Seconds{3}, 0.2}, {Seconds{1}, Seconds{2}, 0.3}},
      Seconds{5}, Seconds{1});
  EXPECT_EQ(samples.at(3), 0);
  EXPECT_EQ(samples.at(4), 0);
}

// What the levels hold, the samples hold: the sum over windows is the sum of amount * time.
TEST(SampleLevelsLaws, AreaIsConserved) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 10);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Level> levels;
    double area = 0;
    for (int i = 0; i < 20; ++i) {
      const double a = uniform(random);
      const double b = uniform(random);
      const Level level{Seconds{std::min(a, b)}, Seconds{std::max(a, b)}, uniform(random)};
      area += (level.end - level.start).count() * level.amount;
      levels.push_back(level);
    }
    const auto samples = sample_levels(levels, Seconds{10}, Seconds{0.25});
    ASSERT_EQ(samples.size(), 40U);
    EXPECT_NEAR(std::accumulate(samples.begin(), samples.end(), 0.0) * 0.25, area, 1e-9 * area);
  }
}

// Levels to samples to bursts: bursts of 330 ms and idles of 700 ms at 10 ms windows.
TEST(SampleLevels, FeedsSplitBursts) {
  std::vector<Level> levels;
  for (int i = 0; i < 12; ++i) {
    const double start = 1.03 * i;
    levels.push_back({Seconds{start}, Seconds{start + 0.33}, 374.3e6});
    levels.push_back({Seconds{start + 0.33}, Seconds{start + 1.03}, 4.5e6});
  }
  const auto bursts = split_bursts(sample_levels(levels, Seconds{12}, Seconds{0.01}),
                                   {.smoothing = Seconds{0.05}, .scale = 1.25e9});
  ASSERT_TRUE(bursts);
  EXPECT_NEAR(bursts->burst_amount.value(), 374.3e6, 1);
  EXPECT_NEAR(bursts->idle_amount.value(), 4.5e6, 1);
  EXPECT_NEAR(bursts->burst->count(), 0.33, 1e-12);
  EXPECT_NEAR(bursts->idle->count(), 0.70, 1e-12);
}

}  // namespace
}  // namespace foretrain::resource
