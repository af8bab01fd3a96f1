// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/op.h"
#include "foretrain/importer/ftg.h"
#include "foretrain/memory/lifetimes.h"
#include "foretrain/operators/detail/memory.h"

namespace foretrain::operators {
namespace {

bool is_send(const Stages& stages, const sim::Task& task) {
  return !stages.pipeline.empty() && task.kind == kCommunicationTask;
}

bool has_node(const Stages& stages, const sim::Task& task) {
  const bool has = task.kind <= kServerTask || task.kind == kHostUpdateTask;
  return has && !is_send(stages, task);
}

// Which of a part's passes a task is, where a stage has several parts.
std::string part_name(const Stages& stages, const Pass& pass) {
  const bool several = std::any_of(stages.program.passes.begin(), stages.program.passes.end(),
                                   [](const Pass& one) { return one.part > 0; });
  return several ? " of part " + std::to_string(pass.part) : "";
}

std::string pass_name(const Stages& stages, const Pass& pass) {
  switch (pass.kind) {
    case PassKind::Start:
      return "zero gradients";
    case PassKind::Forward:
      return "forward" + part_name(stages, pass);
    case PassKind::Backward:
      return "backward" + part_name(stages, pass);
    case PassKind::Exchange:
      return "exchange of gradients";
    default:
      return "update";
  }
}

// The micro-batches that a stage's part has passed on so far, in each direction: they come in
// order.
class MicroBatches {
 public:
  std::optional<int> next(const Stages& stages, const sim::Task& task) {
    if (task.kind != kPassTask) return std::nullopt;
    const Pass& pass = stages.program.passes[static_cast<std::size_t>(task.tag)];
    if (pass.kind != PassKind::Forward && pass.kind != PassKind::Backward) return std::nullopt;
    return passed_[{pass.stage, pass.part, pass.kind}]++;
  }

 private:
  std::map<std::tuple<int, int, PassKind>, int> passed_;
};

std::string send_name(const StageSend& send) {
  const std::string what = send.backward ? "gradients" : "activations";
  return what + " from stage " + std::to_string(send.from) + " to " + std::to_string(send.to);
}

std::string task_name(const Stages& stages, const sim::Task& task) {
  const auto tag = static_cast<std::size_t>(task.tag);
  if (task.kind == kReceiveTask) return "receive, " + send_name(stages.program.sends[tag]);
  if (task.kind == kPassTask) return pass_name(stages, stages.program.passes[tag]);
  if (is_send(stages, task)) return send_name(stages.program.sends[tag]);
  const auto node = [&] {
    return graph::describe(stages.step->graph.nodes[static_cast<std::size_t>(task.tag)]);
  };
  switch (task.kind) {
    case kHostTask:
      return "launch " + node();
    case kSaturationTask:
      return "exchanges of all workers";
    case kCopyTask:
      return "copy of the input";
    case kInputTask:
      return "next batch";
    default:
      return node();
  }
}

const char* kind_name(std::int32_t kind) {
  constexpr std::array kNames{"host", "kernel", "communication", "server", "saturation",
                              "copy", "input",  "host update",   "pass",   "receive"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string scope_of(const Stages& stages, const sim::Task& task) {
  if (!has_node(stages, task)) return "";
  return stages.step->graph.nodes[static_cast<std::size_t>(task.tag)].scope;
}

OrderedJson row_names(const Stages& stages, const hw::Cluster& cluster) {
  OrderedJson events = OrderedJson::array();
  const auto name = [&](int row, const std::string& text) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 0},
                      {"tid", row},
                      {"args", {{"name", text}}}});
  };
  if (!stages.pipeline.empty()) {
    std::set<int> named;
    for (const sim::Task& task : stages.program.program.tasks) {
      const auto tag = static_cast<std::size_t>(task.tag);
      if (!named.insert(task.resource).second) continue;
      if (task.kind == kPassTask) {
        name(task.resource, "stage " + std::to_string(stages.program.passes[tag].stage));
      } else if (task.kind == kCommunicationTask) {
        name(task.resource, send_name(stages.program.sends[tag]));
      } else {
        name(task.resource, "input pipeline");
      }
    }
    return events;
  }
  name(0, "network");
  name(1, "parameter server");
  for (const WorkerClass& worker : stages.program.classes) {
    const std::string& device = cluster.devices[static_cast<std::size_t>(worker.device)].name;
    name(worker.host, "host of " + device);
    name(worker.stream, device);
  }
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind == kInputTask) name(task.resource, "input pipeline");
    if (task.kind == kSaturationTask) name(task.resource, "links of the servers");
    if (task.kind == kHostUpdateTask) name(task.resource, "updates by the host");
  }
  return events;
}

double bytes_of(const graph::Bound& bound, const std::vector<graph::TensorId>& ids) {
  double bytes = 0;
  for (const graph::TensorId id : ids) bytes += bound.bytes(id);
  return bytes;
}

// What a rank gives to a collective and takes from it; what it sums in place it only gives.
void add_bytes(const Stages& stages, const sim::Task& task, OrderedJson& entry) {
  if (is_send(stages, task)) {
    entry["input_bytes"] = stages.program.sends[static_cast<std::size_t>(task.tag)].bytes;
    return;
  }
  const graph::Node& node = stages.step->graph.nodes[static_cast<std::size_t>(task.tag)];
  entry["input_bytes"] = bytes_of(stages.bound, node.inputs);
  entry["output_bytes"] = bytes_of(stages.bound, node.outputs);
}

OrderedJson storages_of(const graph::Bound& bound, double held_bytes) {
  constexpr std::array kParts{"parameters", "gradients", "optimizer", "activations", "workspace"};
  const std::vector<graph::Node>& nodes = bound.graph->nodes;
  const auto node = [&](graph::NodeId id) {
    OrderedJson entry;  // null: before the first node, or after the last
    if (id < 0 || static_cast<std::size_t>(id) >= nodes.size()) return entry;
    const graph::Node& one = nodes[static_cast<std::size_t>(id)];
    entry = {{"node", id},
             {"name", graph::describe(one)},
             {"scope", one.scope},
             {"phase", graph::phase_name(one.phase)}};
    return entry;
  };
  memory::Options options;
  options.search_workspace = false;
  options.caching_allocator = false;
  options.held_bytes = held_bytes;
  OrderedJson list = OrderedJson::array();
  for (const memory::Storage& storage : memory::lifetimes(bound, options)) {
    list.push_back({{"bytes", storage.bytes},
                    {"part", kParts.at(static_cast<std::size_t>(storage.part))},
                    {"first", node(storage.born)},
                    {"last", node(storage.last)}});
  }
  return list;
}

// Of a pipeline the first stage and the one that needs most.
std::string dump_memory(const Stages& stages, const Resolved& resolved) {
  if (stages.pipeline.empty()) return json_text(storages_of(stages.bound, 0));
  OrderedJson list = OrderedJson::array();
  const RankMemory most = most_memory(stages.pipeline, resolved);
  for (const int stage : std::set<int>{0, most.stage}) {
    const RankMemory rank = stage_memory(stages.pipeline, stage, resolved);
    const PipelineStage& one = stages.pipeline[static_cast<std::size_t>(stage)];
    list.push_back({{"stage", stage},
                    {"peak_bytes", rank.report.peak},
                    {"allocated_bytes", rank.report.allocated},
                    {"held_bytes", rank.held_bytes},
                    {"storages", storages_of(*one.bound, rank.held_bytes)}});
  }
  return json_text(list);
}

}  // namespace

std::string to_chrome_trace(const Stages& stages, const hw::Cluster& cluster) {
  OrderedJson events = row_names(stages, cluster);
  MicroBatches micro_batches;
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const sim::Span& span = stages.timeline.spans[t];
    events.push_back({{"name", task_name(stages, tasks[t])},
                      {"cat", kind_name(tasks[t].kind)},
                      {"ph", "X"},
                      {"ts", span.start.count() * 1e6},
                      {"dur", (span.end - span.start).count() * 1e6},
                      {"pid", 0},
                      {"tid", tasks[t].resource},
                      {"args", {{"scope", scope_of(stages, tasks[t])}}}});
    if (const auto number = micro_batches.next(stages, tasks[t])) {
      events.back()["args"] = {{"micro_batch", *number}};
    }
  }
  return json_text(OrderedJson{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}});
}

std::string dump_stage(const Stages& stages, const Resolved& resolved, const std::string& stage) {
  if (stage == "graph") return importer::write_ftg(stages.step->graph);
  if (stage == "memory") return dump_memory(stages, resolved);
  if (stage != "tasks" && stage != "timeline") {
    throw Error(ErrorKind::BadInput, "--dump '" + printable(stage) +
                                         "' is not a stage; use graph, tasks, timeline, memory or "
                                         "groups");
  }
  OrderedJson list = OrderedJson::array();
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    OrderedJson entry{{"task", t},
                      {"kind", kind_name(tasks[t].kind)},
                      {"name", task_name(stages, tasks[t])},
                      {"scope", scope_of(stages, tasks[t])},
                      {"resource", tasks[t].resource},
                      {"duration_s", tasks[t].duration.count()}};
    if (tasks[t].kind == kCommunicationTask) add_bytes(stages, tasks[t], entry);
    const auto after = sim::dependencies(stages.program.program, static_cast<sim::TaskId>(t));
    entry["after"] = std::vector<sim::TaskId>(after.begin(), after.end());
    if (stage == "timeline") {
      entry["start_s"] = stages.timeline.spans[t].start.count();
      entry["end_s"] = stages.timeline.spans[t].end.count();
    }
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

}  // namespace foretrain::operators
