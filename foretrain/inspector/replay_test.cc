// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/replay.h"

#include <gtest/gtest.h>

namespace foretrain::inspector {
namespace {

constexpr auto kDevice = index_of(Resource::Device);
constexpr auto kMemory = index_of(Resource::Memory);

// A step of 1 s whose device is busy for the first 0.6 s, seen in windows of 0.1 s.
StepCurves square_wave() {
  StepCurves curves;
  curves.period = Seconds{1};
  for (Curve& curve : curves.of) curve.split = {.window = Seconds{0.1}, .scale = 100};
  curves.of[kDevice].levels = {{Seconds{0}, Seconds{0.6}, 80}};
  return curves;
}

// Steps one after the other, all alike.
const ReplayOptions kSteady{.replays = 2, .jitter = 0, .gap = Seconds{0}, .length = Seconds{10}};

// Bursts of 0.6 s at 80, idles of 0.4 s at 0; over ten steps 60 of 100 windows are bursts, and the
// mean is 0.6 * 80 = 48.
TEST(Replay, OfASquareWaveWithoutJitterIsTheWave) {
  const Replayed device = replay(square_wave(), kSteady)[kDevice];
  EXPECT_EQ(device.alternating, 1);
  EXPECT_NEAR(device.amount, 80, 1e-9);
  EXPECT_NEAR(device.idle_amount, 0, 1e-9);
  EXPECT_NEAR(device.burst_s, 0.6, 1e-9);
  EXPECT_NEAR(device.idle_s, 0.4, 1e-9);
  EXPECT_NEAR(device.burst_share, 0.6, 1e-9);
  EXPECT_NEAR(device.mean, 48, 1e-9);
}

// A resource that is not used is all idle: its idle lasts the whole step.
TEST(Replay, OfNothingIsOneIdle) {
  const Replayed memory = replay(square_wave(), kSteady)[kMemory];
  EXPECT_EQ(memory.alternating, 0);
  EXPECT_EQ(memory.amount, 0);
  EXPECT_EQ(memory.burst_s, 0);
  EXPECT_EQ(memory.idle_s, 1);
  EXPECT_EQ(memory.burst_share, 0);
  EXPECT_EQ(memory.mean, 0);
}

// What is always busy has one burst per step, as long as the step.
TEST(Replay, OfAFullStepIsOneBurst) {
  StepCurves curves = square_wave();
  curves.of[kDevice].levels = {{Seconds{0}, Seconds{1}, 90}};
  const Replayed device = replay(curves, kSteady)[kDevice];
  EXPECT_EQ(device.alternating, 0);
  EXPECT_NEAR(device.amount, 90, 1e-9);
  EXPECT_NEAR(device.burst_s, 1, 1e-9);
  EXPECT_NEAR(device.idle_s, 0, 1e-9);
}

// Levels that overlap add up: 30 and 50 make 80.
TEST(Replay, AddsWhatHappensAtOnce) {
  StepCurves curves = square_wave();
  curves.of[kDevice].levels = {{Seconds{0}, Seconds{0.6}, 30}, {Seconds{0}, Seconds{0.6}, 50}};
  EXPECT_NEAR(replay(curves, kSteady)[kDevice].amount, 80, 1e-9);
}

TEST(Replay, TheSameSeedGivesTheSameNumbers) {
  ReplayOptions options{.jitter = 0.05, .gap = Seconds{0.01}, .seed = 7};
  const auto numbers = [&] {
    const Replayed device = replay(square_wave(), options)[kDevice];
    return std::vector{device.amount, device.idle_amount, device.burst_s,
                       device.idle_s, device.burst_share, device.mean};
  };
  const std::vector<double> seven = numbers();
  EXPECT_EQ(numbers(), seven);
  options.seed = 8;
  EXPECT_NE(numbers(), seven);
}

// Steps of 1 s with gaps of 0.5 s on average: idles of 0.9 s rather than 0.4 s, bursts as before.
TEST(Replay, GapsBelongToTheIdles) {
  const ReplayOptions options{
      .replays = 20, .jitter = 0, .gap = Seconds{0.5}, .length = Seconds{64}, .least_steps = 64};
  const Replayed device = replay(square_wave(), options)[kDevice];
  EXPECT_NEAR(device.burst_s, 0.6, 0.1);  // ends fall into windows
  EXPECT_NEAR(device.idle_s, 0.9, 0.15);
  EXPECT_NEAR(device.mean, 48 / 1.5, 3);
}

}  // namespace
}  // namespace foretrain::inspector
