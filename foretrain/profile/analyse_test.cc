// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/analyse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foretrain/profile/detail/period.h"

namespace foretrain::profile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> wave(int bursts, int high, int low, double amount, double rest) {
  std::vector<double> samples;
  for (int i = 0; i < bursts; ++i) {
    samples.insert(samples.end(), static_cast<std::size_t>(high), amount);
    samples.insert(samples.end(), static_cast<std::size_t>(low), rest);
  }
  return samples;
}

Recording recording_of(std::vector<double> samples, const char* name = "gpu_util",
                       const char* unit = "%") {
  return {.columns = {{.name = name, .unit = unit, .samples = std::move(samples)}}};
}

// 30 windows of 10 ms at 90 %, 20 at 2 %.
TEST(Analyse, RecoversASquareWaveAndItsPeriod) {
  const Profile profile = analyse(recording_of(wave(10, 30, 20, 90, 2)));
  ASSERT_EQ(profile.resources.size(), 1U);
  const resource::Bursts& bursts = profile.resources[0].bursts;
  EXPECT_EQ(bursts.pattern, resource::Pattern::BIB);
  EXPECT_DOUBLE_EQ(bursts.burst->count(), 0.3);
  EXPECT_DOUBLE_EQ(bursts.idle->count(), 0.2);
  EXPECT_DOUBLE_EQ(bursts.burst_sd->count(), 0);
  EXPECT_NEAR(profile.period->count(), 0.5, 0.001);  // a tenth of a window
  EXPECT_EQ(profile.period_of, "gpu_util");
}

TEST(Analyse, OneStateHasNoPeriod) {
  EXPECT_EQ(analyse(recording_of({99, 98, 99})).resources[0].bursts.pattern, resource::Pattern::B);
  EXPECT_EQ(analyse(recording_of({1, 0, 1})).resources[0].bursts.pattern, resource::Pattern::I);
  EXPECT_FALSE(analyse(recording_of(std::vector<double>(100, 99))).period);
}

// A chatter of 1 kB/s on an idle link is no burst: the scale is at least 1 Mb/s.
TEST(Analyse, ChatterOnAnIdleLinkIsIdle) {
  const Profile profile = analyse(recording_of(wave(10, 10, 10, 1000, 0), "net_tx", "B/s"));
  EXPECT_EQ(profile.resources[0].bursts.pattern, resource::Pattern::I);
}

TEST(Analyse, NothingAndNanAreLeftOut) {
  EXPECT_TRUE(analyse(Recording{}).resources.empty());
  EXPECT_TRUE(analyse(recording_of({})).resources.empty());
  EXPECT_TRUE(analyse(recording_of({kNan, kNan})).resources.empty());
  EXPECT_EQ(analyse(recording_of({50})).resources.size(), 1U);
}

// Runs of 300 and 200 ms where the source changes every 250 ms.
TEST(Analyse, DurationsBelowTheSourcesRefreshAreDoubted) {
  Recording recording = recording_of(wave(10, 30, 20, 90, 2));
  recording.columns[0].refresh = Seconds{0.25};
  EXPECT_EQ(analyse(recording).notes.size(), 1U);
  recording.columns[0].refresh = Seconds{0.05};
  EXPECT_TRUE(analyse(recording).notes.empty());
}

TEST(Analyse, JsonHasTheReportsFieldsMeasuredOrNot) {
  EXPECT_EQ(to_json(analyse(recording_of({50}))),
            R"({"window_s":0.01,"worker":{"gpu_util":{"pattern":"I","burst_amount":null,)"
            R"("idle_amount":50,"burst_s":null,"idle_s":null,"unit":"%","mean":50,"spread":)"
            R"({"burst_amount":null,"idle_amount":null,"burst_s":null,"idle_s":null}},)"
            R"("gpu_memory_util":null,"net_tx":null,"net_rx":null,"memory_used":null},)"
            R"("server":null,"duration_s":0.01,"period_s":null,"notes":[]})");
}

// A sine of 37.3 windows: the period lies between whole windows and is still found to 0.1 %.
TEST(FindPeriod, IsSharperThanAWindow) {
  std::vector<double> samples;
  for (int i = 0; i < 1000; ++i) samples.push_back(50 + 40 * std::sin(2 * M_PI * i / 37.3));
  EXPECT_NEAR(find_period(samples, Seconds{0.01})->count(), 0.373, 0.0004);
}

TEST(FindPeriod, IsAbsentWhereNothingRepeats) {
  EXPECT_FALSE(find_period({}, Seconds{1}));
  EXPECT_FALSE(find_period(std::vector<double>(100, 3), Seconds{1}));
  std::vector<double> ramp;
  for (int i = 0; i < 100; ++i) ramp.push_back(i);
  EXPECT_FALSE(find_period(ramp, Seconds{1}));
}

}  // namespace
}  // namespace foretrain::profile
