// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sim/sim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace foretrain::sim {
namespace {

double start_of(const Timeline& timeline, TaskId id) {
  return timeline.spans[static_cast<std::size_t>(id)].start.count();
}
double end_of(const Timeline& timeline, TaskId id) {
  return timeline.spans[static_cast<std::size_t>(id)].end.count();
}

Program with(int resources) {
  Program program;
  for (int i = 0; i < resources; ++i) add_resource(program);
  return program;
}

TEST(Sim, EmptyProgramEndsAtZero) {
  EXPECT_EQ(run(Program{}).end, Seconds{0});
  EXPECT_TRUE(run(Program{}).spans.empty());
  EXPECT_EQ(run(with(2)).end, Seconds{0});
}

// Host 1 s + 1 s; device 3 s from 1, then 2 s: it is ready at 2 but waits for the first until 4.
TEST(Sim, HostAndDeviceOverlap) {
  Program program = with(2);
  const TaskId h0 = add_task(program, {.resource = 0, .duration = Seconds{1}}, {});
  const TaskId g0 = add_task(program, {.resource = 1, .duration = Seconds{3}}, {h0});
  const TaskId h1 = add_task(program, {.resource = 0, .duration = Seconds{1}}, {});
  const TaskId g1 = add_task(program, {.resource = 1, .duration = Seconds{2}}, {h1});
  const Timeline timeline = run(program);
  EXPECT_EQ(start_of(timeline, g0), 1);
  EXPECT_EQ(end_of(timeline, h1), 2);
  EXPECT_EQ(start_of(timeline, g1), 4);
  EXPECT_EQ(timeline.end, Seconds{6});
}

// The second task is ready at once, but the first of its resource, ready at 5, goes first.
TEST(Sim, AResourceBlocksAtItsHead) {
  Program program = with(2);
  const TaskId slow = add_task(program, {.resource = 0, .duration = Seconds{5}}, {});
  add_task(program, {.resource = 1, .duration = Seconds{1}}, {slow});
  const TaskId second = add_task(program, {.resource = 1, .duration = Seconds{1}}, {});
  EXPECT_EQ(start_of(run(program), second), 6);
}

// A chain of tasks of no duration, as long as a large program, must not exhaust the stack.
TEST(Sim, LongChainWithoutDurationEndsAtZero) {
  Program program = with(2);
  TaskId last = add_task(program, {}, {});
  for (int i = 0; i < 200'000; ++i) last = add_task(program, {.resource = i % 2}, {last});
  EXPECT_EQ(run(program).end, Seconds{0});
}

// Random programs. Durations are multiples of 1/8 s, so that sums are exact and ties happen.
Program random_program(std::mt19937& random, int resources, int tasks) {
  const auto draw = [&](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  Program program = with(resources);
  for (int i = 0; i < tasks; ++i) {
    std::vector<TaskId> after;
    for (int k = i == 0 ? 0 : draw(4); k > 0; --k) after.push_back(i - 1 - draw(std::min(i, 12)));
    const Task task{.resource = draw(resources), .duration = Seconds{draw(5) / 8.0}};
    add_task(program, task, after);
  }
  return program;
}

// A task starts as soon as what it is after and the task before it on its resource have ended,
// never sooner, and takes its duration.
TEST(SimLaws, EveryTaskStartsAsSoonAsItMay) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const int resources = 1 + trial % 5;
    const Program program = random_program(random, resources, 80);
    const Timeline timeline = run(program);
    std::vector<double> free_from(static_cast<std::size_t>(resources), 0.0);
    double last = 0;
    for (TaskId id = 0; static_cast<std::size_t>(id) < program.tasks.size(); ++id) {
      const Task& task = program.tasks[static_cast<std::size_t>(id)];
      double& free = free_from[static_cast<std::size_t>(task.resource)];
      double ready = free;
      for (const TaskId before : dependencies(program, id)) {
        ready = std::max(ready, end_of(timeline, before));
      }
      ASSERT_EQ(start_of(timeline, id), ready);
      ASSERT_EQ(end_of(timeline, id), ready + task.duration.count());
      free = end_of(timeline, id);
      last = std::max(last, free);
    }
    ASSERT_EQ(timeline.end.count(), last);
  }
}

// Scaling every duration scales every time.
TEST(SimLaws, TimesScaleWithDurations) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 50; ++trial) {
    Program program = random_program(random, 3, 60);
    const Timeline once = run(program);
    for (Task& task : program.tasks) task.duration *= 4;
    const Timeline scaled = run(program);
    for (std::size_t i = 0; i < once.spans.size(); ++i) {
      ASSERT_EQ(once.spans[i].end.count() * 4, scaled.spans[i].end.count());
    }
  }
}

}  // namespace
}  // namespace foretrain::sim
