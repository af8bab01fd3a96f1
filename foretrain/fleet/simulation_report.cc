// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulation_report.h"

#include "foretrain/base/json_writer.h"

namespace foretrain::fleet {
namespace {

void write_quantiles(JsonWriter& json, const char* name, const sched::Quantiles& of) {
  json.key(name).begin_object();
  json.field("mean", of.mean()).field("median", of.at(0.5));
  json.field("p95", of.at(0.95)).field("p99", of.at(0.99));
  json.end_object();
}

double count_of(std::int64_t count) { return static_cast<double>(count); }

void write_report(JsonWriter& json, const SimulationReport& report) {
  const sched::Summary& summary = report.summary;
  json.begin_object();
  json.field("policy", report.policy).field("placement", report.placement);
  json.field("seed", static_cast<double>(report.seed));
  json.field("jobs", count_of(summary.jobs)).field("completed", count_of(summary.completed));
  json.field("dropped", count_of(summary.dropped));
  write_quantiles(json, "jct_s", summary.jct);
  write_quantiles(json, "queue_s", summary.queue);
  write_quantiles(json, "slowdown", summary.slowdown);
  json.field("makespan_s", summary.makespan.count());
  json.field("device_utilisation", summary.device_utilisation);
  json.field("fairness", summary.fairness);
  json.field("preemptions", count_of(summary.preemptions));
  json.field("failures", count_of(summary.failures));
  json.field("late", count_of(summary.late));
  json.field("work_device_s", summary.work_device_seconds);
  json.field("held_device_s", summary.held_device_seconds);
  json.key("assumptions").begin_array();
  for (const std::string& note : report.assumptions) json.value(note);
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const SimulationReport& report) {
  JsonWriter json;
  write_report(json, report);
  return json.finish();
}

std::string to_json(const std::vector<SimulationReport>& reports) {
  JsonWriter json;
  json.begin_object().key("runs").begin_array();
  for (const SimulationReport& report : reports) write_report(json, report);
  json.end_array().end_object();
  return json.finish();
}

std::vector<PolicyMeans> means_by_policy(const std::vector<SimulationReport>& reports) {
  std::vector<PolicyMeans> rows;
  for (const SimulationReport& report : reports) {
    if (rows.empty() || rows.back().policy != report.policy)
      rows.push_back({.policy = report.policy});
    PolicyMeans& row = rows.back();
    const sched::Summary& summary = report.summary;
    // A running mean over the seeds.
    row.runs += 1;
    const auto add = [&](double& mean, double value) { mean += (value - mean) / row.runs; };
    add(row.jct_mean_s, summary.jct.mean());
    add(row.jct_median_s, summary.jct.at(0.5));
    add(row.jct_p99_s, summary.jct.at(0.99));
    add(row.queue_mean_s, summary.queue.mean());
    add(row.makespan_s, summary.makespan.count());
    add(row.device_utilisation, summary.device_utilisation);
    add(row.fairness, summary.fairness);
    add(row.preemptions, count_of(summary.preemptions));
  }
  return rows;
}

}  // namespace foretrain::fleet
