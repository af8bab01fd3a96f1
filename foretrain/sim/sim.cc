// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sim/sim.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "foretrain/sim/detail/slowed.h"

namespace foretrain::sim {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

[[maybe_unused]] bool is_well_formed(const Program& program) {
  const std::size_t count = program.tasks.size();
  if (program.first_after.size() != count + 1 || program.first_after.front() != 0 ||
      at(program.first_after.back()) != program.after.size()) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Task& task = program.tasks[i];
    if (task.resource < 0 || task.resource >= program.resources) return false;
    if (!std::isfinite(task.duration.count()) || task.duration < Seconds{0}) return false;
    for (const TaskId before : dependencies(program, static_cast<TaskId>(i))) {
      if (before < 0 || at(before) >= i) return false;
    }
  }
  for (const Slowdown& one : program.slowdowns) {
    if (!(one.rate > 0) || one.of == one.by) return false;
  }
  return true;
}

}  // namespace

Timeline run(const Program& program) {
  assert(is_well_formed(program));
  if (!program.slowdowns.empty()) return run_slowed(program);
  const std::size_t count = program.tasks.size();
  Timeline timeline;
  timeline.spans.resize(count);
  std::vector<Seconds> free_from(at(program.resources), Seconds{0});
  for (std::size_t i = 0; i < count; ++i) {  // what a task waits for is listed earlier: one pass
    const Task& task = program.tasks[i];
    Seconds start = free_from[at(task.resource)];
    for (const TaskId before : dependencies(program, static_cast<TaskId>(i))) {
      start = std::max(start, timeline.spans[at(before)].end);
    }
    const Seconds end = start + task.duration;
    timeline.spans[i] = {start, end};
    free_from[at(task.resource)] = end;
    timeline.end = std::max(timeline.end, end);
  }
  return timeline;
}

}  // namespace foretrain::sim
