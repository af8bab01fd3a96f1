// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sim/detail/slowed.h"

#include <gtest/gtest.h>

#include <random>

#include "foretrain/sim/sim.h"

namespace foretrain::sim {
namespace {

Program two_resources(double rate) {
  Program program;
  add_resource(program);
  add_resource(program);
  program.slowdowns.push_back({.of = 0, .by = 1, .rate = rate});
  return program;
}

// 4 s of work beside 2 s of a task that halves its speed: 1 s of it is done then, 3 s follow.
TEST(SlowedRun, AResourceLosesSpeedWhileAnotherIsBusy) {
  Program program = two_resources(0.5);
  const TaskId slowed = add_task(program, {.resource = 0, .duration = Seconds{4}}, {});
  const TaskId other = add_task(program, {.resource = 1, .duration = Seconds{2}}, {});
  const Timeline timeline = run(program);
  EXPECT_DOUBLE_EQ(timeline.spans[static_cast<std::size_t>(slowed)].end.count(), 5);
  EXPECT_DOUBLE_EQ(timeline.spans[static_cast<std::size_t>(other)].end.count(), 2);
  EXPECT_DOUBLE_EQ(timeline.end.count(), 5);
}

// Both ways: 1 s and 1 s at half speed each take 2 s together, as one after the other.
TEST(SlowedRun, BothMayLoseSpeed) {
  Program program = two_resources(0.5);
  program.slowdowns.push_back({.of = 1, .by = 0, .rate = 0.5});
  add_task(program, {.resource = 0, .duration = Seconds{1}}, {});
  add_task(program, {.resource = 1, .duration = Seconds{1}}, {});
  EXPECT_DOUBLE_EQ(run(program).end.count(), 2);
}

// At full rate the events give what one pass over the tasks gives.
TEST(SlowedRun, AtFullRateNothingChanges) {
  std::mt19937 random(7);
  const auto draw = [&](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  for (int trial = 0; trial < 100; ++trial) {
    Program plain;
    for (int r = 0; r < 3; ++r) add_resource(plain);
    for (int i = 0; i < 60; ++i) {
      std::vector<TaskId> after;
      for (int k = i == 0 ? 0 : draw(3); k > 0; --k) after.push_back(draw(i));
      add_task(plain, {.resource = draw(3), .duration = Seconds{draw(5) / 8.0}}, after);
    }
    Program slowed = plain;
    slowed.slowdowns.push_back({.of = 0, .by = 1, .rate = 1});
    const Timeline a = run(plain);
    const Timeline b = run(slowed);
    for (std::size_t i = 0; i < a.spans.size(); ++i) {
      ASSERT_DOUBLE_EQ(a.spans[i].start.count(), b.spans[i].start.count());
      ASSERT_DOUBLE_EQ(a.spans[i].end.count(), b.spans[i].end.count());
    }
  }
}

}  // namespace
}  // namespace foretrain::sim
