// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/lab_runs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/detail/cells.h"
#include "foretrain/measured/open_tables.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::measured {
namespace {

constexpr std::size_t kLabRuns = 10;  // that calibrate, unless the caller says how many

// Workers have no server, then each server has a host of its own.
Json server_placement(std::int64_t workers, std::int64_t servers) {
  Json placement = Json::array();
  for (std::int64_t i = 0; i < workers; ++i) placement.push_back(0);
  for (std::int64_t i = 0; i < servers; ++i) placement.push_back(1);
  return placement;
}

std::string cores_text(double cores) {
  char text[32];
  const auto [end, _] = std::to_chars(text, text + sizeof(text), cores);
  return "cpu:cores=" + std::string(text, end);
}

// What a request names its device, or describes it by.
std::string device_in(const Json& request) {
  const Json device = request.value("device", Json(""));
  return device.is_string() ? device.get<std::string>() : device.value("name", "described device");
}

// What a whole job of one of these models took besides its steps.
std::optional<double> rest_of_job(const Row& row, const std::vector<MeasuredStep>& of,
                                  const std::string& where) {
  const Json run = parse_json(cell(row, "configuration"), where + ": configuration");
  const std::string model = JsonFields(run, where).required_text("model");
  if (run.value("cores", 1.0) < 1) return std::nullopt;  // a share of a core makes it longer
  const bool wanted = std::any_of(of.begin(), of.end(), [&model](const MeasuredStep& step) {
    return step.request.model == model;
  });
  if (!wanted) return std::nullopt;
  const double steps = optional_number(row, "steps", where).value_or(0) *
                       optional_number(row, "step_median_s", where).value_or(0);
  return *optional_number(row, "wall_s", where) - steps;
}

// Of one pass over the data set and of all, without start-up, where the details of a run tell
// them: those on Ray do.
std::pair<std::optional<double>, std::optional<double>> training_times(const Row& row,
                                                                       const std::string& where) {
  const std::string_view text = cell(row, "details");
  if (text.find("\"train_s\"") == std::string_view::npos) return {};
  const Json details = parse_json(text, where + ": details");
  JsonFields fields(details, where + ": details");
  return {fields.number("epoch_s"), fields.number("train_s")};
}

}  // namespace

bool are_runs(const std::vector<std::string>& columns) {
  constexpr auto kColumns =
      std::to_array<std::string_view>({"campaign", "configuration", "setting", "status", "wall_s",
                                       "step_median_s", "exposed_sync_s"});
  return std::all_of(kColumns.begin(), kColumns.end(), [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

std::string run_request(const std::string& configuration, const std::string& where) {
  const Json json = parse_json(configuration, where + ": configuration");
  JsonFields fields(json, where + ": configuration");
  const auto workers = static_cast<std::int64_t>(fields.required_number("workers"));
  Json strategy = fields.require("strategy");
  if (strategy.is_object() && strategy.value("kind", "") == "ps" && workers < 1024) {
    strategy["server_placement"] =
        server_placement(workers, std::clamp<std::int64_t>(strategy.value("servers", 1), 1, 1024));
    strategy["server_device"] = "cpu:cores=1";
  }
  Json request{{"model", fields.required_text("model")},
               {"device", cores_text(fields.required_number("cores"))},
               {"workers", workers},
               {"workers_per_node", 1},
               {"batch", fields.require("batch")},
               {"optimizer", fields.required_text("optimizer")},
               {"strategy", strategy},
               {"network", kUnshapedNetwork}};
  if (json.contains("network")) request["network"] = fields.required_text("network");
  for (const char* length : {"samples", "epochs"}) {
    if (json.contains(length)) request[length] = fields.required_number(length);
  }
  fields.finish();
  return json_text(request);
}

std::string request_of_run(const Row& row, const std::string& where) {
  const std::string_view kept = cell(row, "request");
  if (!kept.empty()) return std::string(kept);
  return run_request(std::string(cell(row, "configuration")), where);
}

std::string model_of_run(const Row& row, const std::string& where) {
  const Json json = parse_json(cell(row, "configuration"), where + ": configuration");
  return JsonFields(json, where + ": configuration").required_text("model");
}

std::vector<Measurement> map_run(const Row& row, const std::string& where) {
  Measurement mapped;
  const std::string setting(cell(row, "setting"));
  const std::string among = setting.empty() ? "" : ", " + setting;
  mapped.model = model_of_run(row, where);
  mapped.metric = "step_time" + among;
  if (cell(row, "status") != "ok") {
    mapped.reason = "the run was not good: " + std::string(cell(row, "status"));
    return {mapped};
  }
  const std::string request = request_of_run(row, where);
  mapped.device = device_in(parse_json(request, where));
  std::vector<Measurement> result;
  const auto put = [&](std::optional<double> measured, const char* metric,
                       const char* report_number) {
    if (!measured || *measured == 0) return;  // no error is a share of nothing
    mapped.request = request;
    mapped.metric = metric + among;
    mapped.number = report_number_named(report_number);
    mapped.measured = *measured;
    result.push_back(mapped);
  };
  const auto add = [&](const char* column, const char* metric, const char* report_number) {
    put(optional_number(row, column, where), metric, report_number);
  };
  if (!cell(row, "wall_s").empty()) {
    add("wall_s", "wall time", "total_time_s");
    return result;
  }
  add("step_median_s", "step_time", "step_time_s");
  add("exposed_sync_s", "exposed_sync", "exposed_communication_s");
  const auto [epoch_s, train_s] = training_times(row, where);
  put(epoch_s, "epoch time", "epoch_time_s");
  put(train_s, "training time", "total_time_s");
  return result;
}

std::vector<Table> open_runs(const std::filesystem::path& data) {
  std::vector<Table> tables = open_tables(data);
  std::erase_if(tables, [](const Table& table) { return !are_runs(table.columns()); });
  if (tables.empty()) {
    throw Error(ErrorKind::BadInput,
                "'" + printable(data.string()) +
                    "' has no runs; `foretrain collect`, `profile` and StepRecorder write them");
  }
  return tables;
}

std::vector<MeasuredStep> calibration_runs(const std::filesystem::path& data,
                                           const std::string& setting,
                                           std::optional<std::size_t> count) {
  std::optional<std::string> wanted;
  if (!setting.empty()) wanted = setting;
  std::set<std::string> models;
  std::vector<MeasuredStep> steps;
  for (Table& runs : open_runs(data)) {
    for (Row row; runs.next(row);) {
      if (!cell(row, "wall_s").empty()) continue;  // a whole job
      if (!wanted) wanted = cell(row, "setting");
      const bool good = cell(row, "status") == "ok";
      if (!good || cell(row, "setting") != *wanted || cell(row, "split") == "test") continue;
      const std::string where = runs.where() + ": line " + std::to_string(row.line);
      MeasuredStep step{parse_request(request_of_run(row, where), where), 0,
                        optional_number(row, "exposed_sync_s", where)};
      const bool lab = !wanted->empty();
      if (lab && !models.insert(step.request.model).second) continue;
      step.step_time_s = optional_number(row, "step_median_s", where).value_or(0);
      if (step.step_time_s > 0) steps.push_back(std::move(step));
    }
  }
  if (steps.empty()) {
    throw Error(ErrorKind::NotFound, "'" + printable(data.string()) +
                                         "': no good run of setting '" +
                                         printable(wanted.value_or("")) + "'");
  }
  std::vector<MeasuredStep> chosen;
  const std::size_t most = wanted->empty() ? steps.size() : kLabRuns;
  const std::size_t kept = std::min(count.value_or(most), steps.size());
  for (std::size_t i = 0; i < kept; ++i) chosen.push_back(steps[i * steps.size() / kept]);
  return chosen;
}

double startup_s(const std::filesystem::path& data, const std::vector<MeasuredStep>& of) {
  std::vector<double> rests;
  for (Table& runs : open_runs(data)) {
    for (Row row; runs.next(row);) {
      if (cell(row, "status") != "ok" || cell(row, "wall_s").empty()) continue;
      const std::string where = runs.where() + ": line " + std::to_string(row.line);
      if (const auto rest = rest_of_job(row, of, where)) rests.push_back(*rest);
    }
  }
  if (rests.empty()) return 0;
  std::sort(rests.begin(), rests.end());
  return std::max(0.0, rests[rests.size() / 2]);
}

}  // namespace foretrain::measured
