// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/simulate_text.h"

#include "foretrain/base/humanise.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {
namespace {

std::string count_text(std::int64_t count) { return format_count(static_cast<double>(count)); }

}  // namespace

std::string sweep_text(const std::vector<fleet::PolicyMeans>& rows, const Screen& screen) {
  Table table;
  for (const char* title :
       {"policy", "mean completion", "change", "median", "99 %", "mean queueing", "makespan",
        "utilisation", "fairness", "preemptions"}) {
    table.columns.push_back({title, !table.columns.empty(), false});
  }
  for (const fleet::PolicyMeans& row : rows) {
    const auto time = [](double value) { return format_time(Seconds{value}); };
    table.rows.push_back({row.policy, time(row.jct_mean_s),
                          format_change(rows.front().jct_mean_s, row.jct_mean_s),
                          time(row.jct_median_s), time(row.jct_p99_s), time(row.queue_mean_s),
                          time(row.makespan_s), format_share(row.device_utilisation),
                          significant(row.fairness, 2), format_count(row.preemptions)});
  }
  return render(table, screen);
}

std::string simulation_text(const fleet::SimulationReport& report, const Screen& screen) {
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
                     count_text(summary.completed) + " of " + count_text(summary.jobs) +
                     " jobs completed\n\n";
  text += render(table, screen) + "\n";
  text += "  makespan     " + format_time(summary.makespan) + "\n";
  text += "  utilisation  " + format_share(summary.device_utilisation) + "\n";
  text += "  fairness     " + significant(summary.fairness, 3) + "\n";
  text += "  preemptions  " + count_text(summary.preemptions) + "\n";
  if (summary.failures > 0) {
    text += "  failures     " + count_text(summary.failures) + "\n";
  }
  for (const std::string& note : report.assumptions) text += "  assumed: " + note + "\n";
  return text;
}

}  // namespace foretrain::cli
