// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/simulate_output.h"

#include <array>
#include <charconv>

#include "foretrain/base/csv.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/cli/humanise.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {
namespace {

// The shortest text that reads back as the same number.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}
std::string number(Seconds time) { return number(time.count()); }

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

// The means over the seeds of one policy.
struct Row {
  std::string policy;
  double runs = 0;
  double jct_mean = 0;
  double jct_median = 0;
  double jct_p99 = 0;
  double queue_mean = 0;
  double makespan = 0;
  double utilisation = 0;
  double fairness = 0;
  double preemptions = 0;
};

std::vector<Row> rows_of(const std::vector<SimulationReport>& reports) {
  std::vector<Row> rows;
  for (const SimulationReport& report : reports) {
    if (rows.empty() || rows.back().policy != report.policy) rows.push_back({report.policy});
    Row& row = rows.back();
    const sched::Summary& summary = report.summary;
    // A running mean over the seeds.
    row.runs += 1;
    const auto add = [&](double& mean, double value) { mean += (value - mean) / row.runs; };
    add(row.jct_mean, summary.jct.mean());
    add(row.jct_median, summary.jct.at(0.5));
    add(row.jct_p99, summary.jct.at(0.99));
    add(row.queue_mean, summary.queue.mean());
    add(row.makespan, summary.makespan.count());
    add(row.utilisation, summary.device_utilisation);
    add(row.fairness, summary.fairness);
    add(row.preemptions, count_of(summary.preemptions));
  }
  return rows;
}

}  // namespace

std::string simulation_json(const SimulationReport& report) {
  JsonWriter json;
  write_report(json, report);
  return json.finish();
}

std::string sweep_json(const std::vector<SimulationReport>& reports) {
  JsonWriter json;
  json.begin_object().key("runs").begin_array();
  for (const SimulationReport& report : reports) write_report(json, report);
  json.end_array().end_object();
  return json.finish();
}

std::string sweep_text(const std::vector<SimulationReport>& reports, const Screen& screen) {
  Table table;
  for (const char* title :
       {"policy", "mean completion", "change", "median", "99 %", "mean queueing", "makespan",
        "utilisation", "fairness", "preemptions"}) {
    table.columns.push_back({title, !table.columns.empty(), false});
  }
  const std::vector<Row> rows = rows_of(reports);
  for (const Row& row : rows) {
    const auto time = [](double value) { return format_time(Seconds{value}); };
    table.rows.push_back({row.policy, time(row.jct_mean),
                          format_change(rows.front().jct_mean, row.jct_mean), time(row.jct_median),
                          time(row.jct_p99), time(row.queue_mean), time(row.makespan),
                          format_share(row.utilisation), significant(row.fairness, 2),
                          format_count(row.preemptions)});
  }
  return render(table, screen);
}

std::string simulation_text(const SimulationReport& report, const Screen& screen) {
  const sched::Summary& summary = report.summary;
  Table table;
  table.columns = {{"", false, false},
                   {"mean", true, false},
                   {"median", true, false},
                   {"95 %", true, false},
                   {"99 %", true, false}};
  const auto row = [&](const char* title, const sched::Quantiles& of) {
    const auto time = [](double value) { return format_time(Seconds{value}); };
    table.rows.push_back(
        {title, time(of.mean()), time(of.at(0.5)), time(of.at(0.95)), time(of.at(0.99))});
  };
  row("completion", summary.jct);
  row("queueing", summary.queue);
  std::string text = "  " + report.policy + ", placement " + report.placement + ": " +
                     format_count(count_of(summary.completed)) + " of " +
                     format_count(count_of(summary.jobs)) + " jobs completed\n\n";
  text += render(table, screen) + "\n";
  text += "  makespan     " + format_time(summary.makespan) + "\n";
  text += "  utilisation  " + format_share(summary.device_utilisation) + "\n";
  text += "  fairness     " + significant(summary.fairness, 3) + "\n";
  text += "  preemptions  " + format_count(count_of(summary.preemptions)) + "\n";
  if (summary.failures > 0) {
    text += "  failures     " + format_count(count_of(summary.failures)) + "\n";
  }
  for (const std::string& note : report.assumptions) text += "  assumed: " + note + "\n";
  return text;
}

std::string jobs_header() {
  return "job,submit_s,start_s,end_s,devices,queue_s,jct_s,preemptions\n";
}

std::string jobs_line(const sched::Active& ended, Seconds now) {
  const sched::Job& job = ended.job;
  const Seconds jct = now - job.submit;
  return csv_field(job.name) + "," + number(job.submit) + "," + number(*ended.first_start) + "," +
         number(now) + "," + std::to_string(job.devices) + "," + number(jct - ended.ran) + "," +
         number(jct) + "," + std::to_string(ended.preemptions) + "\n";
}

std::string events_header() { return "time_s,event,job,nodes\n"; }

std::string events_line(sched::Happening what, Seconds now, const sched::Active* active, int node) {
  std::string line = number(now) + "," + to_string(what) + ",";
  if (active == nullptr) return line + "," + std::to_string(node) + "\n";
  line += csv_field(active->job.name) + ",";
  if (what != sched::Happening::Submit) {
    bool first = true;
    for (const sched::Share& share : active->where.shares) {
      line += (first ? "" : " ") + std::to_string(share.node) + ":" + std::to_string(share.devices);
      first = false;
    }
  }
  return line + "\n";
}

}  // namespace foretrain::cli
