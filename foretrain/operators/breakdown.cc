// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/breakdown.h"

#include <algorithm>
#include <optional>

#include "foretrain/graph/op.h"

namespace foretrain::operators {
namespace {

// What a task waited for last, where it waited for any.
std::optional<sim::TaskId> last_before(const Stages& stages, sim::TaskId id) {
  std::optional<sim::TaskId> last;
  Seconds latest{-1};
  for (const sim::TaskId before : sim::dependencies(stages.program.program, id)) {
    const Seconds end = stages.timeline.spans[static_cast<std::size_t>(before)].end;
    if (end <= latest) continue;
    latest = end;
    last = before;
  }
  return last;
}

// Until when a kernel waited for the network, itself or because its launch did; 0: it did not.
Seconds network_until(const Stages& stages, sim::TaskId kernel) {
  std::optional<sim::TaskId> last = last_before(stages, kernel);
  const auto kind = [&] {
    return stages.program.program.tasks[static_cast<std::size_t>(*last)].kind;
  };
  if (last && kind() == kHostTask) last = last_before(stages, *last);
  if (!last || (kind() != kCommunicationTask && kind() != kServerTask)) return Seconds{0};
  return stages.timeline.spans[static_cast<std::size_t>(*last)].end;
}

// When the last task of a kind ends; 0: there is none.
Seconds end_of(const Stages& stages, TaskKind kind) {
  Seconds end{0};
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind == kind) end = std::max(end, stages.timeline.spans[t].end);
  }
  return end;
}

// Updates by the host come after all kernels.
Seconds host_update_time(const Stages& stages) {
  Seconds sum{0};
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind == kHostUpdateTask) sum += task.duration;
  }
  return sum;
}

// What the step waits for its input after everything else has ended.
Seconds late_input(const Stages& stages) {
  const Seconds input = end_of(stages, kInputTask);
  Seconds others{0};
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  if (input < stages.timeline.end) return Seconds{0};
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind != kInputTask) others = std::max(others, stages.timeline.spans[t].end);
  }
  return input - others;
}

}  // namespace

namespace {

void add(const Breakdown& part, Breakdown& sum) {
  sum.compute += part.compute;
  sum.memory += part.memory;
  sum.exposed_communication += part.exposed_communication;
  sum.host += part.host;
  sum.bubble += part.bubble;
  sum.input += part.input;
}

bool is_transfer(const sim::Task& task) {
  return task.kind == kCommunicationTask || task.kind == kReceiveTask;
}

// A stage waits for its neighbours: bubble, but for the time that the last transfer itself takes.
Breakdown break_down_passes(const Stages& stages, Seconds end) {
  const sim::Program& program = stages.program.program;
  const sim::ResourceId stream = stages.program.classes.front().stream;
  Breakdown parts;
  Seconds now{0};
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const sim::Task& task = program.tasks[t];
    if (task.kind != kPassTask || task.resource != stream) continue;
    const sim::Span& span = stages.timeline.spans[t];
    if (span.start > now) {
      Seconds sent = span.start;
      const auto last = last_before(stages, static_cast<sim::TaskId>(t));
      if (last && is_transfer(program.tasks[static_cast<std::size_t>(*last)])) {
        const Seconds begun = stages.timeline.spans[static_cast<std::size_t>(*last)].start;
        sent = std::clamp(begun, now, span.start);
      }
      parts.bubble += sent - now;
      parts.exposed_communication += span.start - sent;
    }
    add(stages.program.passes[static_cast<std::size_t>(task.tag)].parts, parts);
    now = span.end;
  }
  if (end > now) parts.bubble += end - now;
  return parts;
}

// Collectives within its passes, and what it sends and receives.
Seconds communication_of_shown_stage(const Stages& stages) {
  const sim::ResourceId stream = stages.program.classes.front().stream;
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  Seconds sum{0};
  for (const sim::Task& task : tasks) {
    if (task.kind != kPassTask || task.resource != stream) continue;
    sum += stages.program.passes[static_cast<std::size_t>(task.tag)].communication;
  }
  for (const Transfer& transfer : stages.program.transfers) {
    const sim::Task& task = tasks[static_cast<std::size_t>(transfer.task)];
    if (task.kind == kCommunicationTask) sum += task.duration;
  }
  return sum;
}

// Waiting is divided as the passes are; what a step begins with belongs to the update.
Phases split_passes(const Stages& stages) {
  const sim::ResourceId stream = stages.program.classes.front().stream;
  Seconds forward{0};
  Seconds backward{0};
  Seconds update{0};
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind != kPassTask || task.resource != stream) continue;
    const PassKind kind = stages.program.passes[static_cast<std::size_t>(task.tag)].kind;
    (kind == PassKind::Forward    ? forward
     : kind == PassKind::Backward ? backward
                                  : update) += task.duration;
  }
  if (forward + backward <= Seconds{0}) return {.forward = stages.timeline.end};
  const Seconds rest = stages.timeline.end - update;
  const Seconds first = rest * (forward / (forward + backward));
  return {.forward = first, .backward = rest - first, .update = update};
}

}  // namespace

const WorkerClass& slowest_class(const Stages& stages) {
  const WorkerClass* slowest = &stages.program.classes.front();
  Seconds latest{-1};
  for (const WorkerClass& worker : stages.program.classes) {
    Seconds busy{0};
    for (const cost::OpTime& op : worker.ops) busy += op.total;
    if (busy > latest) {
      latest = busy;
      slowest = &worker;
    }
  }
  return *slowest;
}

const hw::Device& slowest_device(const Stages& stages, const Resolved& resolved) {
  return resolved.cluster.devices[static_cast<std::size_t>(slowest_class(stages).device)];
}

// A gap before a kernel belongs to what it waited for: the copy of its input, communication, then
// the host.
Breakdown break_down_between(const Stages& stages, Seconds from, Seconds to) {
  const sim::Program& program = stages.program.program;
  const WorkerClass& worker = slowest_class(stages);
  const Seconds copied = end_of(stages, kCopyTask);
  Breakdown parts;
  Seconds now = from;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const sim::Task& task = program.tasks[t];
    if (task.kind != kKernelTask || task.resource != worker.stream) continue;
    const sim::Span& span = stages.timeline.spans[t];
    if (span.end <= from || span.start >= to) continue;
    if (span.start > now) {
      const Seconds input = std::clamp(copied, now, span.start);
      const Seconds network =
          std::clamp(network_until(stages, static_cast<sim::TaskId>(t)), input, span.start);
      parts.input += input - now;
      parts.exposed_communication += network - input;
      parts.host += span.start - network;
    }
    const cost::OpTime& op = worker.ops[static_cast<std::size_t>(task.tag)];
    (op.compute >= op.memory ? parts.compute : parts.memory) += span.end - span.start;
    now = span.end;
  }
  if (to > now) {
    const Seconds updating = std::min(to - now, host_update_time(stages));
    const bool communicates =
        !stages.program.transfers.empty() || communication_time(stages) > Seconds{0};
    parts.host += updating;
    (communicates ? parts.exposed_communication : parts.host) += to - now - updating;
  }
  return parts;
}

Breakdown break_down(const Stages& stages) {
  const Seconds late = late_input(stages);
  const Seconds end = stages.timeline.end - late;
  Breakdown parts = stages.pipeline.empty() ? break_down_between(stages, Seconds{0}, end)
                                            : break_down_passes(stages, end);
  parts.input += late;
  return parts;
}

// A phase ends with its last kernel on the slowest worker; what follows the last one is update.
// Several passes divide as the last one does. Input belongs to forward.
Phases split_phases(const Stages& stages) {
  if (!stages.pipeline.empty()) return split_passes(stages);
  const sim::Program& program = stages.program.program;
  const WorkerClass& worker = slowest_class(stages);
  const Seconds copied = end_of(stages, kCopyTask);
  Seconds begin{0};  // of the last pass; like the others counted from the end of the input's copy
  Seconds forward{0};
  Seconds backward{0};
  std::int32_t previous = -1;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const sim::Task& task = program.tasks[t];
    if (task.kind != kKernelTask || task.resource != worker.stream) continue;
    const sim::Span& span = stages.timeline.spans[t];
    if (task.tag < previous) begin = span.start - copied;
    previous = task.tag;
    const Seconds end = span.end - copied;
    const graph::Phase phase = stages.step->graph.nodes[static_cast<std::size_t>(task.tag)].phase;
    if (phase == graph::Phase::Forward) forward = std::max(forward, end);
    if (phase == graph::Phase::Backward || phase == graph::Phase::Recompute)
      backward = std::max(backward, end);
  }
  backward = std::max(forward, backward);
  if (backward > begin) forward = backward * ((forward - begin) / (backward - begin));
  if (stages.step->graph.nodes.empty() || backward == forward) {  // inference
    return {.forward = stages.timeline.end};
  }
  const Seconds input = copied + late_input(stages);
  return {.forward = forward + input,
          .backward = backward - forward,
          .update = stages.timeline.end - input - backward};
}

Seconds communication_time(const Stages& stages) {
  if (!stages.pipeline.empty()) return communication_of_shown_stage(stages);
  Seconds sum{0};
  Seconds busy{0};
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind == kCommunicationTask) sum += task.duration;
    if (task.kind == kSaturationTask) busy = task.duration;
  }
  return std::max(sum, busy);
}

std::vector<Seconds> operator_times(const Stages& stages, std::int64_t passes) {
  const WorkerClass& worker = slowest_class(stages);
  std::vector<Seconds> times;
  for (std::size_t n = 0; n < worker.ops.size(); ++n) {
    const bool once = stages.step->graph.nodes[n].phase == graph::Phase::Update;
    times.push_back(static_cast<double>(once ? 1 : passes) * worker.ops[n].total);
  }
  return times;
}

std::vector<OperatorReport> top_operators(const Stages& stages, std::int64_t passes,
                                          std::size_t most) {
  const WorkerClass& worker = slowest_class(stages);
  const std::vector<Seconds> times = operator_times(stages, passes);
  std::vector<std::size_t> order;
  Seconds all{0};
  for (std::size_t n = 0; n < worker.ops.size(); ++n) {
    all += times[n];
    if (worker.ops[n].kernels > 0) order.push_back(n);
  }
  const std::size_t shown = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return times[a] != times[b] ? times[a] > times[b] : a < b;
                    });
  std::vector<OperatorReport> result;
  for (std::size_t i = 0; i < shown; ++i) {
    const graph::Node& node = stages.step->graph.nodes[order[i]];
    const Seconds time = times[order[i]];
    result.push_back({node.scope, graph::describe(node), time, time / all});
  }
  return result;
}

}  // namespace foretrain::operators
