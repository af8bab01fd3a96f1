// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::sim {

using TaskId = std::int32_t;
using ResourceId = std::int32_t;

// How a resource serves the tasks that name it.
enum class Service : std::uint8_t {
  InOrder,  // one at a time, in the order in which the tasks are listed (a stream, a thread)
  Queue,    // one at a time, the one that became ready first (ties: the one listed first)
  Shared,   // all ready tasks at once, each at an equal share of the rate (a link)
};

struct Resource {
  Service service = Service::InOrder;
};

// A piece of work that occupies one resource. `duration` is its time when it has the resource
// for itself.
struct Task {
  ResourceId resource = 0;
  Seconds duration{0};
  std::int32_t kind = 0;  // the caller's own label; the engine does not look at it
  std::int32_t tag = 0;   // likewise
};

// Tasks with their dependencies, flat. A task may start when those that it is `after` have
// ended; those of task i are after[first_after[i]] .. after[first_after[i + 1]] and are all
// below i.
struct Program {
  std::vector<Resource> resources;
  std::vector<Task> tasks;
  std::vector<TaskId> after;
  std::vector<std::int32_t> first_after{0};
};

// Appends a resource or a task and returns its id.
ResourceId add_resource(Program& program, Service service);
TaskId add_task(Program& program, const Task& task, std::initializer_list<TaskId> after);
TaskId add_task(Program& program, const Task& task, std::span<const TaskId> after);

// The tasks that task `id` is after.
std::span<const TaskId> dependencies(const Program& program, TaskId id);

struct Span {
  Seconds start{0};
  Seconds end{0};
};

struct Timeline {
  std::vector<Span> spans;  // of each task
  Seconds end{0};           // of the last task
};

// Runs the program: a discrete-event simulation from time zero. Deterministic. Asserts that
// dependencies point backwards and that durations are finite and not negative.
//
// Takes time linear in tasks and dependencies when every resource is InOrder; otherwise a
// factor log(tasks) more. A Shared resource is egalitarian processor sharing: n ready tasks
// each progress at 1/n, and a task of no duration ends when it is ready. A free Queue chooses
// among all that is ready at that moment, including what ends just then make ready.
Timeline run(const Program& program);

// The same by events, whatever the resources. `run` chooses the faster way by itself; this is
// here so that one way can be checked against the other.
Timeline run_by_events(const Program& program);

}  // namespace foretrain::sim
