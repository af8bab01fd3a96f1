// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/json_writer.h"
#include "foretrain/predict/report.h"

namespace foretrain {
namespace {

std::optional<double> seconds(const std::optional<Seconds>& time) {
  return time ? std::optional(time->count()) : std::nullopt;
}

void write(JsonWriter& json, const char* name, const std::optional<Estimate>& estimate) {
  json.key(name);
  if (!estimate) {
    json.null();
    return;
  }
  json.begin_object().field("value", estimate->value).field("low", estimate->low);
  json.field("high", estimate->high).field("confidence", estimate->confidence).end_object();
}

// {"burst_s": [low, high], ..., "confidence": 0.9}, of the numbers that have one.
void write_intervals(JsonWriter& json, const ResourceReport& report) {
  std::optional<double> confidence;
  for (const resource::Number number : resource::kNumbers) {
    const std::optional<Estimate>& one = report.estimates[index_of(number)];
    if (!one || !one->low || !one->high) continue;
    if (!confidence) json.key("intervals").begin_object();
    confidence = one->confidence.value_or(0);
    json.key(name_of(number)).begin_array().value(*one->low).value(*one->high).end_array();
  }
  if (confidence) json.field("confidence", *confidence).end_object();
}

void write(JsonWriter& json, const char* name, const std::optional<ResourceReport>& report) {
  json.key(name);
  if (!report) {
    json.null();
    return;
  }
  const resource::Bursts& bursts = report->bursts;
  json.begin_object().field("pattern", resource::to_string(bursts.pattern));
  json.field("burst_amount", bursts.burst_amount).field("idle_amount", bursts.idle_amount);
  json.field("burst_s", seconds(bursts.burst)).field("idle_s", seconds(bursts.idle));
  json.field("unit", report->unit);
  write_intervals(json, *report);
  json.end_object();
}

void write(JsonWriter& json, const char* name, const std::optional<RoleReport>& role) {
  json.key(name);
  if (!role) {
    json.null();
    return;
  }
  json.begin_object();
  write(json, "gpu_util", role->gpu_util);
  write(json, "gpu_memory_util", role->gpu_memory_util);
  write(json, "net_tx", role->net_tx);
  write(json, "net_rx", role->net_rx);
  write(json, "memory_used", role->memory_used);
  json.end_object();
}

void write_throughput(JsonWriter& json, const Report& report) {
  json.key("throughput").begin_object().field("samples_per_s", report.samples_per_s);
  json.field("tokens_per_s", report.tokens_per_s);
  json.field("tokens_per_s_per_device", report.tokens_per_s_per_device);
  json.field("mfu", report.mfu).end_object();
}

// The parts add up to the total time.
void write_job(JsonWriter& json, const std::optional<JobTime>& job) {
  json.key("total_breakdown_s");
  if (!job) {
    json.null();
    return;
  }
  json.begin_object().field("training", job->training).field("evaluation", job->evaluation);
  json.field("checkpoints", job->checkpoints).field("lost_work", job->lost_work);
  json.field("restarts", job->restarts).field("startup", job->startup).end_object();
  json.field("expected_failures", job->failures);
}

void write_breakdown(JsonWriter& json, const Breakdown& parts) {
  json.key("breakdown_s").begin_object().field("compute", parts.compute.count());
  json.field("memory", parts.memory.count());
  json.field("exposed_communication", parts.exposed_communication.count());
  json.field("host", parts.host.count()).field("bubble", parts.bubble.count());
  json.field("input", parts.input.count()).end_object();
}

void write_phases(JsonWriter& json, const Phases& phases) {
  json.key("phases_s").begin_object().field("forward", phases.forward.count());
  json.field("backward", phases.backward.count());
  json.field("update", phases.update.count()).end_object();
}

void write_memory(JsonWriter& json, const MemoryReport& memory) {
  json.key("memory_bytes").begin_object().field("peak", memory.peak);
  json.field("low", memory.low).field("high", memory.high);
  json.field("fit_probability", memory.fit_probability);
  json.field("allocated", memory.allocated).field("parameters", memory.parameters);
  json.field("gradients", memory.gradients).field("optimizer", memory.optimizer);
  json.field("activations", memory.activations).field("workspace", memory.workspace);
  json.field("fragmentation", memory.fragmentation).field("framework", memory.framework);
  if (memory.communication > 0) json.field("communication", memory.communication);
  if (memory.gathered > 0) json.field("gathered", memory.gathered);
  json.field("capacity", memory.capacity).field("fits", memory.fits).end_object();
}

// Where it does not fit, what would, the fastest per sample first.
void write_remedies(JsonWriter& json, const Report& report) {
  if (report.memory.fits) return;
  json.key("would_fit").begin_array();
  for (const Remedy& remedy : report.would_fit) {
    json.begin_object().field("change", remedy.change).key("request").json(remedy.request);
    json.field("step_time_s", remedy.step_time_s).field("samples_per_s", remedy.samples_per_s);
    json.field("peak_bytes", remedy.peak_bytes).field("capacity_bytes", remedy.capacity_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_cost(JsonWriter& json, const std::optional<Estimate>& cost) {
  json.key("cost");
  if (!cost) {
    json.null();
    return;
  }
  json.begin_object().field("value", cost->value).field("low", cost->low);
  json.field("high", cost->high).field("currency", "USD").end_object();
}

void write_operators(JsonWriter& json, const std::vector<OperatorReport>& operators) {
  json.key("top_operators").begin_array();
  for (const OperatorReport& entry : operators) {
    json.begin_object().field("name", entry.name).field("kind", entry.kind);
    json.field("time_s", entry.time.count()).field("share", entry.share).end_object();
  }
  json.end_array();
}

void write_engines(JsonWriter& json, const Report& report) {
  json.field("engine", report.engine).key("engines").begin_object();
  for (const EngineReport& one : report.engines) {
    json.key(one.number).begin_object().field("engine", one.engine);
    json.field("why", one.why).end_object();
  }
  json.end_object();
}

void write_list(JsonWriter& json, const char* name, const std::vector<std::string>& lines) {
  json.key(name).begin_array();
  for (const std::string& line : lines) json.value(line);
  json.end_array();
}

}  // namespace

std::string to_json(const Report& report) {
  JsonWriter json;
  json.begin_object();
  write(json, "step_time_s", report.step_time_s);
  write_throughput(json, report);
  write(json, "epoch_time_s", report.epoch_time_s);
  write(json, "total_time_s", report.total_time_s);
  write_job(json, report.job_time);
  write_breakdown(json, report.breakdown);
  write_phases(json, report.phases);
  json.field("communication_s", report.communication.count());
  write_memory(json, report.memory);
  write_remedies(json, report);
  json.key("resources").begin_object().field("window_s", report.resources.window.count());
  write(json, "worker", report.resources.worker);
  write(json, "server", report.resources.server);
  json.end_object();
  write_cost(json, report.cost_usd);
  write_operators(json, report.top_operators);
  write_engines(json, report);
  write_list(json, "assumptions", report.assumptions);
  write_list(json, "warnings", report.warnings);
  json.end_object();
  return json.finish();
}

}  // namespace foretrain
