// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sim/sim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace foretrain::sim {
namespace {

double start_of(const Timeline& timeline, TaskId id) {
  return timeline.spans[static_cast<std::size_t>(id)].start.count();
}
double end_of(const Timeline& timeline, TaskId id) {
  return timeline.spans[static_cast<std::size_t>(id)].end.count();
}

Program with(std::initializer_list<Service> services) {
  Program program;
  for (const Service service : services) add_resource(program, service);
  return program;
}

TEST(Sim, EmptyProgramEndsAtZero) {
  EXPECT_EQ(run(Program{}).end, Seconds{0});
  EXPECT_TRUE(run(Program{}).spans.empty());
  EXPECT_EQ(run(with({Service::Shared, Service::Queue})).end, Seconds{0});
}

// Host 1 s + 1 s; device 3 s from 1, then 2 s: it is ready at 2 but waits for the first until 4.
TEST(Sim, HostAndDeviceOverlap) {
  Program program = with({Service::InOrder, Service::InOrder});
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

// The second task is ready at once, but on an InOrder resource the first, ready at 5, goes first.
TEST(Sim, InOrderBlocksAtItsHead) {
  Program program = with({Service::InOrder, Service::InOrder, Service::Queue});
  const TaskId slow = add_task(program, {.resource = 0, .duration = Seconds{5}}, {});
  add_task(program, {.resource = 1, .duration = Seconds{1}}, {slow});
  const TaskId second = add_task(program, {.resource = 1, .duration = Seconds{1}}, {});
  EXPECT_EQ(start_of(run(program), second), 6);
}

// The same on a Queue: the task that is ready first goes first.
TEST(Sim, QueueServesWhatIsReadyFirst) {
  Program program = with({Service::InOrder, Service::Queue});
  const TaskId slow = add_task(program, {.resource = 0, .duration = Seconds{5}}, {});
  const TaskId first = add_task(program, {.resource = 1, .duration = Seconds{1}}, {slow});
  const TaskId second = add_task(program, {.resource = 1, .duration = Seconds{1}}, {});
  const Timeline timeline = run(program);
  EXPECT_EQ(start_of(timeline, second), 0);
  EXPECT_EQ(start_of(timeline, first), 5);
}

// Both become ready at 1, by ends of different tasks; the one listed first goes first, although
// the end that it waits for is listed last and passes through a task of no duration.
TEST(Sim, QueueBreaksTiesByListing) {
  Program program = with({Service::InOrder, Service::InOrder, Service::Queue, Service::Shared});
  const TaskId a = add_task(program, {.resource = 0, .duration = Seconds{1}}, {});
  const TaskId b = add_task(program, {.resource = 1, .duration = Seconds{1}}, {});
  const TaskId zero = add_task(program, {.resource = 3, .duration = Seconds{0}}, {b});
  const TaskId first = add_task(program, {.resource = 2, .duration = Seconds{2}}, {zero});
  const TaskId second = add_task(program, {.resource = 2, .duration = Seconds{2}}, {a});
  const Timeline timeline = run(program);
  EXPECT_EQ(start_of(timeline, first), 1);
  EXPECT_EQ(start_of(timeline, second), 3);
}

// Two transfers of 2 s alone: from 0 and from 1. The first has 1 s left when the second joins and
// ends at 1 + 2 = 3; the second had 1 s of service by then and needs 1 s more alone: 4.
TEST(Sim, SharedSplitsTheRateEvenly) {
  Program program = with({Service::Shared, Service::InOrder});
  const TaskId wait = add_task(program, {.resource = 1, .duration = Seconds{1}}, {});
  const TaskId first = add_task(program, {.resource = 0, .duration = Seconds{2}}, {});
  const TaskId second = add_task(program, {.resource = 0, .duration = Seconds{2}}, {wait});
  const Timeline timeline = run(program);
  EXPECT_DOUBLE_EQ(end_of(timeline, first), 3);
  EXPECT_DOUBLE_EQ(start_of(timeline, second), 1);
  EXPECT_DOUBLE_EQ(end_of(timeline, second), 4);
}

// Three equal tasks of 1 s end together after 3 s.
TEST(Sim, SharedEqualTasksEndTogether) {
  Program program = with({Service::Shared});
  for (int i = 0; i < 3; ++i) add_task(program, {.duration = Seconds{1}}, {});
  const Timeline timeline = run(program);
  for (TaskId id = 0; id < 3; ++id) EXPECT_DOUBLE_EQ(end_of(timeline, id), 3);
}

TEST(Sim, TaskOfNoDurationDoesNotSlowASharedResource) {
  Program program = with({Service::Shared});
  add_task(program, {.duration = Seconds{1}}, {});
  const TaskId none = add_task(program, {.duration = Seconds{0}}, {});
  const Timeline timeline = run(program);
  EXPECT_EQ(end_of(timeline, none), 0);
  EXPECT_EQ(timeline.end, Seconds{1});
}

// A chain of tasks of no duration, as long as a large program, must not exhaust the stack.
TEST(Sim, LongChainWithoutDurationEndsAtZero) {
  Program program = with({Service::Shared, Service::Queue});
  TaskId last = add_task(program, {}, {});
  for (int i = 0; i < 200'000; ++i) last = add_task(program, {.resource = i % 2}, {last});
  EXPECT_EQ(run(program).end, Seconds{0});
}

// Random programs. Durations are multiples of 1/8 s, so that sums are exact and ties happen.
Program random_program(std::mt19937& random, std::vector<Service> services, int tasks) {
  const auto draw = [&](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  Program program;
  for (const Service service : services) add_resource(program, service);
  for (int i = 0; i < tasks; ++i) {
    std::vector<TaskId> after;
    for (int k = i == 0 ? 0 : draw(4); k > 0; --k) after.push_back(i - 1 - draw(std::min(i, 12)));
    const Task task{.resource = draw(static_cast<int>(services.size())),
                    .duration = Seconds{draw(5) / 8.0}};
    add_task(program, task, after);
  }
  return program;
}

std::vector<TaskId> tasks_on(const Program& program, ResourceId resource) {
  std::vector<TaskId> ids;
  for (TaskId id = 0; static_cast<std::size_t>(id) < program.tasks.size(); ++id) {
    if (program.tasks[static_cast<std::size_t>(id)].resource == resource) ids.push_back(id);
  }
  return ids;
}

void expect_dependencies_respected(const Program& program, const Timeline& timeline) {
  for (TaskId id = 0; static_cast<std::size_t>(id) < program.tasks.size(); ++id) {
    for (const TaskId before : dependencies(program, id)) {
      EXPECT_GE(start_of(timeline, id), end_of(timeline, before));
    }
  }
}

// On an exclusive resource each task takes exactly its duration and no two overlap.
void expect_exclusive(const Program& program, const Timeline& timeline, ResourceId resource) {
  std::vector<TaskId> ids = tasks_on(program, resource);
  for (const TaskId id : ids) {
    const double duration = program.tasks[static_cast<std::size_t>(id)].duration.count();
    EXPECT_NEAR(end_of(timeline, id) - start_of(timeline, id), duration, 1e-9);
  }
  std::stable_sort(ids.begin(), ids.end(), [&](TaskId a, TaskId b) {
    return std::pair(start_of(timeline, a), end_of(timeline, a)) <
           std::pair(start_of(timeline, b), end_of(timeline, b));
  });
  for (std::size_t i = 1; i < ids.size(); ++i) {
    EXPECT_GE(start_of(timeline, ids[i]), end_of(timeline, ids[i - 1]));
  }
}

// A shared resource works at full rate whenever a task is present: the time covered by spans
// equals the work. No task is faster than alone.
void expect_work_conserved(const Program& program, const Timeline& timeline, ResourceId resource) {
  std::vector<std::pair<double, double>> spans;
  double work = 0;
  for (const TaskId id : tasks_on(program, resource)) {
    const double duration = program.tasks[static_cast<std::size_t>(id)].duration.count();
    EXPECT_GE(end_of(timeline, id) - start_of(timeline, id), duration - 1e-9);
    spans.emplace_back(start_of(timeline, id), end_of(timeline, id));
    work += duration;
  }
  std::sort(spans.begin(), spans.end());
  double covered = 0;
  double until = -std::numeric_limits<double>::infinity();
  for (const auto& [start, end] : spans) {
    covered += std::max(0.0, end - std::max(start, until));
    until = std::max(until, end);
  }
  EXPECT_NEAR(covered, work, 1e-9);
}

TEST(SimLaws, LinearPassEqualsEvents) {
  std::mt19937 random(1);
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const Program program =
        random_program(random, std::vector<Service>(1 + trial % 4, Service::InOrder), 60);
    const Timeline line = run(program);
    const Timeline events = run_by_events(program);
    ASSERT_EQ(line.end, events.end);
    for (std::size_t i = 0; i < line.spans.size(); ++i) {
      ASSERT_EQ(line.spans[i].start, events.spans[i].start);
      ASSERT_EQ(line.spans[i].end, events.spans[i].end);
    }
  }
}

TEST(SimLaws, HoldOnRandomPrograms) {
  std::mt19937 random(2);
  const std::vector<Service> services{Service::InOrder, Service::Queue, Service::Shared,
                                      Service::Queue, Service::Shared};
  for (int trial = 0; trial < 200; ++trial) {
    const Program program = random_program(random, services, 80);
    const Timeline timeline = run(program);
    expect_dependencies_respected(program, timeline);
    for (const ResourceId exclusive : {0, 1, 3}) expect_exclusive(program, timeline, exclusive);
    for (const ResourceId shared : {2, 4}) expect_work_conserved(program, timeline, shared);
    const Timeline again = run(program);
    double last = 0;
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
      ASSERT_EQ(timeline.spans[i].start, again.spans[i].start);
      ASSERT_EQ(timeline.spans[i].end, again.spans[i].end);
      last = std::max(last, timeline.spans[i].end.count());
    }
    ASSERT_EQ(timeline.end.count(), last);
  }
}

// A Queue never idles while a task is ready, and serves in order of readiness.
TEST(SimLaws, QueueIsWorkConservingAndFirstComeFirstServed) {
  std::mt19937 random(3);
  const std::vector<Service> services{Service::InOrder, Service::Queue, Service::InOrder};
  for (int trial = 0; trial < 100; ++trial) {
    const Program program = random_program(random, services, 60);
    const Timeline timeline = run(program);
    std::vector<std::pair<double, TaskId>> by_readiness;
    for (const TaskId id : tasks_on(program, 1)) {
      double ready = 0;
      for (const TaskId before : dependencies(program, id)) {
        ready = std::max(ready, end_of(timeline, before));
      }
      by_readiness.emplace_back(ready, id);
    }
    // A task of no duration lets the ones that it makes ready at the same moment come after it.
    std::sort(by_readiness.begin(), by_readiness.end(), [&](const auto& a, const auto& b) {
      return std::tuple(a.first, start_of(timeline, a.second), end_of(timeline, a.second)) <
             std::tuple(b.first, start_of(timeline, b.second), end_of(timeline, b.second));
    });
    double free = 0;
    for (const auto& [ready, id] : by_readiness) {
      ASSERT_EQ(start_of(timeline, id), std::max(ready, free));
      free = end_of(timeline, id);
    }
  }
}

// Scaling every duration scales every time.
TEST(SimLaws, TimesScaleWithDurations) {
  std::mt19937 random(4);
  const std::vector<Service> services{Service::InOrder, Service::Queue, Service::Shared};
  for (int trial = 0; trial < 50; ++trial) {
    Program program = random_program(random, services, 60);
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
