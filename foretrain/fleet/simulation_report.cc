// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulation_report.h"

#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
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

// What is averaged of one report.
PolicyMeans figures_of(const SimulationReport& report) {
  const sched::Summary& summary = report.summary;
  PolicyMeans figures{.policy = report.policy, .runs = 1};
  figures.jct_mean_s = summary.jct.mean();
  figures.jct_median_s = summary.jct.at(0.5);
  figures.jct_p99_s = summary.jct.at(0.99);
  figures.queue_mean_s = summary.queue.mean();
  figures.makespan_s = summary.makespan.count();
  figures.device_utilisation = summary.device_utilisation;
  figures.fairness = summary.fairness;
  figures.preemptions = count_of(summary.preemptions);
  return figures;
}

// What write_report wrote, read back.
PolicyMeans figures_of(const std::string& json) {
  const Json report = parse_json(json, "report of a simulation");
  const auto number = [](const Json& of, const char* name) {
    const Json& value = of.at(name);
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  };
  try {
    PolicyMeans figures{.policy = report.at("policy").get<std::string>(), .runs = 1};
    figures.jct_mean_s = number(report.at("jct_s"), "mean");
    figures.jct_median_s = number(report.at("jct_s"), "median");
    figures.jct_p99_s = number(report.at("jct_s"), "p99");
    figures.queue_mean_s = number(report.at("queue_s"), "mean");
    figures.makespan_s = number(report, "makespan_s");
    figures.device_utilisation = number(report, "device_utilisation");
    figures.fairness = number(report, "fairness");
    figures.preemptions = number(report, "preemptions");
    return figures;
  } catch (const Json::exception&) {
    throw Error(ErrorKind::BadInput, "a line is no report of a simulation");
  }
}

// A running mean over the seeds.
void add(const PolicyMeans& figures, std::vector<PolicyMeans>& rows) {
  if (rows.empty() || rows.back().policy != figures.policy) {
    rows.push_back({.policy = figures.policy});
  }
  PolicyMeans& row = rows.back();
  row.runs += 1;
  for (const auto figure :
       {&PolicyMeans::jct_mean_s, &PolicyMeans::jct_median_s, &PolicyMeans::jct_p99_s,
        &PolicyMeans::queue_mean_s, &PolicyMeans::makespan_s, &PolicyMeans::device_utilisation,
        &PolicyMeans::fairness, &PolicyMeans::preemptions}) {
    row.*figure += (figures.*figure - row.*figure) / row.runs;
  }
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
  for (const SimulationReport& report : reports) add(figures_of(report), rows);
  return rows;
}

std::vector<PolicyMeans> means_by_policy(const std::vector<std::string>& json_reports) {
  std::vector<PolicyMeans> rows;
  for (const std::string& report : json_reports) add(figures_of(report), rows);
  return rows;
}

}  // namespace foretrain::fleet
