// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

// A piece of work that occupies one resource. `after` are the tasks that must have ended
// before it may start; `duration` is its time when it has the resource for itself.
struct Task {
  ResourceId resource = 0;
  Seconds duration{0};
  std::int32_t kind = 0;  // the caller's own label; the engine does not look at it
  std::int32_t tag = 0;   // likewise
};

// Tasks with their dependencies, flat: those of task i are
// after[first_after[i]] .. after[first_after[i + 1]] and are all below i.
struct Program {
  std::vector<Resource> resources;
  std::vector<Task> tasks;
  std::vector<TaskId> after;
  std::vector<std::int32_t> first_after{0};
};

// Appends a task and returns its id.
TaskId add_task(Program& program, const Task& task, std::initializer_list<TaskId> after);
TaskId add_task(Program& program, const Task& task, const std::vector<TaskId>& after);

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
Timeline run(const Program& program);

}  // namespace foretrain::sim
