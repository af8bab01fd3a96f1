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

// A piece of work that occupies one resource, which serves one task at a time, in the order in
// which they are listed: a stream, a thread.
struct Task {
  ResourceId resource = 0;
  Seconds duration{0};
  std::int32_t kind = 0;  // the caller's own label; the engine does not look at it
  std::int32_t tag = 0;   // likewise
};

// While resource `by` is busy, tasks of resource `of` progress at `rate` of their speed.
struct Slowdown {
  ResourceId of = 0;
  ResourceId by = 0;
  double rate = 1;
};

// Tasks with their dependencies, flat. A task may start when those that it is `after` have
// ended; those of task i are after[first_after[i]] .. after[first_after[i + 1]] and are all
// below i.
struct Program {
  ResourceId resources = 0;  // how many; their ids count from 0
  std::vector<Task> tasks;
  std::vector<TaskId> after;
  std::vector<std::int32_t> first_after{0};
  std::vector<Slowdown> slowdowns;
};

// Appends a resource or a task and returns its id.
ResourceId add_resource(Program& program);
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

}  // namespace foretrain::sim
