// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/summarise.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "foretrain/hw/cluster.h"

namespace foretrain {
namespace {

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100 * share);
  return text.data();
}

void report_throughput(const Stages& stages, Report& report) {
  const double workers = stages.setting.workers;
  const double step = report.step_time_s.value;
  report.samples_per_s = workers * static_cast<double>(stages.setting.batch) / step;
  if (stages.step->tokens_per_sample > 0) {
    report.tokens_per_s = report.samples_per_s * stages.step->tokens_per_sample;
    report.tokens_per_s_per_device = *report.tokens_per_s / workers;
  }
}

// Peak of all devices together against the products of all workers.
void report_mfu(const Stages& stages, const Request& request, Report& report) {
  double peak = 0;
  for (const WorkerClass& worker : stages.job.classes) {
    const hw::Device& device =
        stages.setting.cluster.devices[static_cast<std::size_t>(worker.device)];
    peak += worker.workers * hw::matrix_peak(device, request.precision).value_or(0);
  }
  if (peak > 0) {
    report.mfu =
        stages.setting.workers * stages.job.product_flops / report.step_time_s.value / peak;
  }
}

void list_warnings(const Stages& stages, Report& report) {
  if (!report.memory.fits) {
    report.warnings.push_back("does not fit into the memory of " +
                              stages.setting.cluster.devices.front().name +
                              ": time and cost hold only if it did");
  }
  if (stages.job.opaque_share > 0) {
    report.warnings.push_back("operators that are not known take " +
                              percent(stages.job.opaque_share) +
                              " of the kernels' time; they are costed by their bytes");
  }
}

void list_assumptions(const Stages& stages, const Request& request, Report& report) {
  std::vector<std::string>& list = report.assumptions;
  list = stages.setting.assumptions;
  for (const std::string& note : stages.step->graph.notes) list.push_back(note);
  for (const std::string& note : stages.job.assumptions) list.push_back(note);
  if (request.mode == Mode::Train) {
    list.push_back("optimizer " + std::string(graph::row_of(request.optimizer).name) +
                   ", framework " + std::string(stages.setting.framework->name));
  }
  if (!request.input_rate) list.push_back("input arrives in time (input_rate was not given)");
}

}  // namespace

// A step that saturated servers cannot serve in time waits for them.
Seconds own_step_time(const Stages& stages) {
  return std::max(stages.timeline.end, stages.job.floor);
}

const WorkerClass& slowest_class(const Stages& stages) {
  const WorkerClass* slowest = &stages.job.classes.front();
  Seconds latest{-1};
  for (const WorkerClass& worker : stages.job.classes) {
    Seconds busy{0};
    for (const cost::OpTime& op : worker.ops) busy += op.total;
    if (busy > latest) {
      latest = busy;
      slowest = &worker;
    }
  }
  return *slowest;
}

const hw::Device& slowest_device(const Stages& stages) {
  return stages.setting.cluster.devices[static_cast<std::size_t>(slowest_class(stages).device)];
}

// What a task waited for last, where it waited for any.
static std::optional<sim::TaskId> last_before(const Stages& stages, sim::TaskId id) {
  std::optional<sim::TaskId> last;
  Seconds latest{-1};
  for (const sim::TaskId before : sim::dependencies(stages.job.program, id)) {
    const Seconds end = stages.timeline.spans[static_cast<std::size_t>(before)].end;
    if (end <= latest) continue;
    latest = end;
    last = before;
  }
  return last;
}

// Until when a kernel waited for the network, itself or because its launch did; 0: it did not.
static Seconds network_until(const Stages& stages, sim::TaskId kernel) {
  std::optional<sim::TaskId> last = last_before(stages, kernel);
  const auto kind = [&] { return stages.job.program.tasks[static_cast<std::size_t>(*last)].kind; };
  if (last && kind() == kHostTask) last = last_before(stages, *last);
  if (!last || (kind() != kCommunicationTask && kind() != kServerTask)) return Seconds{0};
  return stages.timeline.spans[static_cast<std::size_t>(*last)].end;
}

// A gap before a kernel belongs to what it waited for: communication, then the host.
Breakdown break_down(const Stages& stages, Seconds input) {
  const sim::Program& program = stages.job.program;
  const WorkerClass& worker = slowest_class(stages);
  Breakdown parts;
  Seconds now{0};
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const sim::Task& task = program.tasks[t];
    if (task.kind != kKernelTask || task.resource != worker.stream) continue;
    const sim::Span& span = stages.timeline.spans[t];
    if (span.start > now) {
      const Seconds network =
          std::clamp(network_until(stages, static_cast<sim::TaskId>(t)), now, span.start);
      parts.exposed_communication += network - now;
      parts.host += span.start - network;
    }
    const cost::OpTime& op = worker.ops[static_cast<std::size_t>(task.tag)];
    (op.compute >= op.memory ? parts.compute : parts.memory) += span.end - span.start;
    now = span.end;
  }
  const Seconds end = own_step_time(stages);
  if (end > now) {
    (stages.job.transfers.empty() ? parts.host : parts.exposed_communication) += end - now;
  }
  parts.input = input;
  return parts;
}

// A phase ends with its last kernel on the slowest worker; what follows the last one is update.
// Several passes divide as the last one does.
static Phases split_phases(const Stages& stages, Seconds input) {
  const WorkerClass& worker = slowest_class(stages);
  Seconds begin{0};  // of the last pass
  Seconds forward{0};
  Seconds backward{0};
  std::int32_t previous = -1;
  for (std::size_t t = 0; t < stages.job.program.tasks.size(); ++t) {
    const sim::Task& task = stages.job.program.tasks[t];
    if (task.kind != kKernelTask || task.resource != worker.stream) continue;
    if (task.tag < previous) begin = stages.timeline.spans[t].start;
    previous = task.tag;
    const Seconds end = stages.timeline.spans[t].end;
    const graph::Phase phase = stages.step->graph.nodes[static_cast<std::size_t>(task.tag)].phase;
    if (phase == graph::Phase::Forward) forward = std::max(forward, end);
    if (phase == graph::Phase::Backward) backward = std::max(backward, end);
  }
  backward = std::max(forward, backward);
  if (backward > begin) forward = backward * ((forward - begin) / (backward - begin));
  const Seconds step = own_step_time(stages);
  if (stages.step->graph.nodes.empty() || backward == forward) {  // inference
    return {.forward = step + input};
  }
  return {.forward = forward + input, .backward = backward - forward, .update = step - backward};
}

std::vector<OperatorReport> top_operators(const Stages& stages, std::size_t most) {
  const WorkerClass& worker = slowest_class(stages);
  std::vector<std::size_t> order;
  Seconds all{0};
  for (std::size_t n = 0; n < worker.ops.size(); ++n) {
    all += worker.ops[n].total;
    if (worker.ops[n].kernels > 0) order.push_back(n);
  }
  const std::size_t shown = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return worker.ops[a].total != worker.ops[b].total
                                 ? worker.ops[a].total > worker.ops[b].total
                                 : a < b;
                    });
  std::vector<OperatorReport> result;
  for (std::size_t i = 0; i < shown; ++i) {
    const graph::Node& node = stages.step->graph.nodes[order[i]];
    const Seconds time = worker.ops[order[i]].total;
    result.push_back({node.scope, graph::describe(node), time, time / all});
  }
  return result;
}

// What a step waits for before it begins, or for the next batch: a copy from pageable memory runs
// while the device is idle; reading and preparing runs beside the step.
static Seconds input_time(const Stages& stages, const Request& request) {
  Seconds copy{0};
  if (request.copy_rate) {
    double bytes = 0;
    const graph::Graph& step = stages.step->graph;
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      const bool input = step.tensors[i].role == graph::Role::Input;
      if (input) bytes += stages.bound.bytes(static_cast<graph::TensorId>(i));
    }
    copy = static_cast<double>(stages.setting.passes) * Seconds{bytes / *request.copy_rate};
  }
  if (!request.input_rate) return copy;
  const Seconds delivered{static_cast<double>(stages.setting.batch) / *request.input_rate};
  return copy + std::max(Seconds{0}, delivered - own_step_time(stages) - copy);
}

Report summarise(const Stages& stages, const Request& request, const Library& library) {
  Report report;
  const Seconds input = input_time(stages, request);
  const Seconds step = own_step_time(stages) + input;
  report.step_time_s.value = step.count();
  report.breakdown = break_down(stages, input);
  report.phases = split_phases(stages, input);
  for (const sim::Task& task : stages.job.program.tasks) {
    if (task.kind == kCommunicationTask) report.communication += task.duration;
  }
  report.communication = std::max(report.communication, stages.job.floor);
  report_throughput(stages, report);
  report_mfu(stages, request, report);
  report.memory = report_memory(stages, request);
  report.top_operators = top_operators(stages, 10);
  report_resources(stages, step, report);
  list_assumptions(stages, request, report);
  list_warnings(stages, report);
  report_trust(stages, request, report);
  report_job(stages, request, library, report);
  return report;
}

}  // namespace foretrain
