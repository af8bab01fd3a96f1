// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/detail/run_files.h"

#include <set>
#include <tuple>

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/store/detail/pack_samples.h"
#include "foretrain/store/detail/read_row.h"

namespace foretrain::store {
namespace {

namespace fs = std::filesystem;

using Records = std::map<std::int64_t, RunRecord>;

void check_known(const char* what, const std::string& name, const std::set<std::string>& known,
                 const Sheet& sheet) {
  if (known.contains(name)) return;
  sheet.fail(std::string(what) + " '" + printable(name) + "' is neither in " + what +
             "s.csv nor in the store");
}

Records read_runs(const Store& store, Sheet& sheet) {
  std::set<std::string> machines;
  for (const Machine& machine : store.machines()) machines.insert(machine.id);
  std::set<std::string> campaigns;
  for (const Campaign& campaign : store.campaigns()) campaigns.insert(campaign.name);
  Records records;
  while (sheet.next()) {
    const std::int64_t id = sheet.integer("id");
    const auto [record, added] = records.emplace(id, RunRecord{.run = read_row<Run>(sheet)});
    if (!added) sheet.fail("run " + std::to_string(id) + " is there twice");
    check_known("machine", record->second.run.machine, machines, sheet);
    check_known("campaign", record->second.run.campaign, campaigns, sheet);
  }
  return records;
}

RunRecord& record_of(const Sheet& sheet, Records& records) {
  const auto record = records.find(sheet.integer("run"));
  if (record == records.end()) sheet.fail("runs.csv has no run " + sheet.cell("run"));
  return record->second;
}

void read_metrics(Sheet& sheet, Records& records) {
  std::set<std::tuple<const RunRecord*, std::string, std::int64_t, std::string>> seen;
  while (sheet.next()) {
    RunRecord& record = record_of(sheet, records);
    const Metric& metric = record.metrics.emplace_back(read_row<Metric>(sheet));
    if (!seen.emplace(&record, metric.role, metric.instance, metric.resource).second) {
      sheet.fail(printable(metric.resource) + " of " + metric.role + " " +
                 std::to_string(metric.instance) + " of this run is there twice");
    }
  }
}

void read_steps(Sheet& sheet, Records& records) {
  const char* column = sheet.has("time_s") ? "time_s" : "times_s";  // older files: one per line
  while (sheet.next()) {
    std::vector<double>& times_s = record_of(sheet, records).step_times_s;
    for (const double time_s : sheet.numbers(column)) {
      if (!is_step_time(time_s)) {
        sheet.fail("'" + exact_text(time_s) + "' in column " + column + " is no time of a step");
      }
      times_s.push_back(time_s);
    }
  }
}

void read_samples(Sheet& sheet, Records& records) {
  while (sheet.next()) {
    Samples& samples = record_of(sheet, records).samples.emplace_back(read_row<Samples>(sheet));
    try {
      samples.values = unpack_samples(from_base64(sheet.cell("packed")));
    } catch (const Error& error) {
      sheet.fail(error.what());
    }
  }
}

}  // namespace

Records read_records(const Store& store, const fs::path& folder, Meter& meter) {
  Sheet runs(folder / "runs.csv", meter);
  Records records = read_runs(store, runs);
  if (fs::exists(folder / "metrics.csv")) {
    Sheet sheet(folder / "metrics.csv", meter);
    read_metrics(sheet, records);
  }
  if (fs::exists(folder / "steps.csv")) {
    Sheet sheet(folder / "steps.csv", meter);
    read_steps(sheet, records);
  }
  if (fs::exists(folder / "samples.csv")) {
    Sheet sheet(folder / "samples.csv", meter);
    read_samples(sheet, records);
  }
  return records;
}

}  // namespace foretrain::store
