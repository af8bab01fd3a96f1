// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/trace.h"

#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"
#include "foretrain/importer/ftg.h"

namespace foretrain::operators {
namespace {

bool has_node(const sim::Task& task) { return task.kind <= kServerTask; }

std::string task_name(const Stages& stages, const sim::Task& task) {
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
  constexpr std::array kNames{"host",       "kernel", "communication", "server",
                              "saturation", "copy",   "input"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string scope_of(const Stages& stages, const sim::Task& task) {
  if (!has_node(task)) return "";
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
  }
  return events;
}

}  // namespace

std::string to_chrome_trace(const Stages& stages, const hw::Cluster& cluster) {
  OrderedJson events = row_names(stages, cluster);
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
  }
  return OrderedJson{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}.dump();
}

std::string dump_stage(const Stages& stages, const std::string& stage) {
  if (stage == "graph") return importer::write_ftg(stages.step->graph);
  if (stage != "tasks" && stage != "timeline") {
    throw Error(ErrorKind::BadInput,
                "--dump '" + printable(stage) + "' is not a stage; use graph, tasks or timeline");
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
    const auto after = sim::dependencies(stages.program.program, static_cast<sim::TaskId>(t));
    entry["after"] = std::vector<sim::TaskId>(after.begin(), after.end());
    if (stage == "timeline") {
      entry["start_s"] = stages.timeline.spans[t].start.count();
      entry["end_s"] = stages.timeline.spans[t].end.count();
    }
    list.push_back(std::move(entry));
  }
  return list.dump();
}

}  // namespace foretrain::operators
