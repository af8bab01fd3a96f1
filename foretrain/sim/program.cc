// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sim/program.h"

#include <cstddef>

namespace foretrain::sim {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

ResourceId add_resource(Program& program) { return program.resources++; }

TaskId add_task(Program& program, const Task& task, std::span<const TaskId> after) {
  program.tasks.push_back(task);
  program.after.insert(program.after.end(), after.begin(), after.end());
  program.first_after.push_back(static_cast<std::int32_t>(program.after.size()));
  return static_cast<TaskId>(program.tasks.size() - 1);
}

TaskId add_task(Program& program, const Task& task, std::initializer_list<TaskId> after) {
  return add_task(program, task, std::span<const TaskId>(after.begin(), after.size()));
}

std::span<const TaskId> dependencies(const Program& program, TaskId id) {
  const std::size_t first = at(program.first_after[at(id)]);
  const std::size_t last = at(program.first_after[at(id) + 1]);
  return std::span<const TaskId>(program.after).subspan(first, last - first);
}

}  // namespace foretrain::sim
