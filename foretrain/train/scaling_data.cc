// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/scaling_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/measurements.h"
#include "foretrain/measured/open_tables.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/operators/answer.h"
#include "foretrain/predict/predict.h"
#include "foretrain/request/request.h"
#include "foretrain/scaling/values.h"

namespace foretrain::train {
namespace {

using measured::Row;
using measured::Table;

constexpr double kMostValue = 1e12;  // products of three are numbers of single precision

[[noreturn]] void bad(const std::string& what) { throw Error(ErrorKind::BadInput, what); }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

std::vector<std::string> known_columns() {
  std::vector<std::string> names{"time", "model"};
  for (const std::string_view one : scaling_variables()) names.emplace_back(one);
  return names;
}

// What the columns are for must be known, and the table must have them.
void check_columns(const ScalingSource& source, const Table& table) {
  const std::vector<std::string> known = known_columns();
  for (const auto& [name, column] : source.columns) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      bad("--columns: '" + printable(name) + "' is none of " + joined(known) +
          did_you_mean(name, known));
    }
    const std::vector<std::string>& there = table.columns();
    if (std::find(there.begin(), there.end(), column) == there.end()) {
      bad(table.where() + ": no column '" + printable(column) + "' for '" + name + "'; it has " +
          joined(there));
    }
  }
  if (!source.columns.contains("time")) {
    bad("--columns: which one holds the time in seconds? Say time=COLUMN; " + table.where() +
        " has " + joined(table.columns()));
  }
}

std::vector<std::string> variables_of(const ScalingSource& source, TimeOf time) {
  std::vector<std::string> variables;
  for (const std::string_view one : scaling_variables()) {
    if (source.columns.contains(std::string(one))) variables.emplace_back(one);
  }
  if (variables.empty()) {
    bad("--columns: what does the time depend on? Name one or more of samples, workers, nodes, "
        "batch and cores");
  }
  if (time == TimeOf::Step && variables.front() == "samples") {
    bad("--columns: the time of a step does not depend on the samples of a data set; say --time "
        "epoch or total, or give batch in place of samples");
  }
  return variables;
}

bool is_wanted(const ScalingSource& source, const Row& row) {
  return std::all_of(source.where.begin(), source.where.end(),
                     [&](const auto& one) { return measured::cell(row, one.first) == one.second; });
}

// Absent for an empty cell.
std::optional<double> positive(const Row& row, const std::string& column, const Table& table) {
  const std::string_view text = measured::cell(row, column);
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !(value > 0)) {
    bad(table.where() + ": line " + std::to_string(row.line) + ": '" + printable(column) +
        "' is '" + printable(text) + "', not a positive number");
  }
  if (value < 1 / kMostValue || value > kMostValue) {
    bad(table.where() + ": line " + std::to_string(row.line) + ": '" + printable(column) +
        "' is '" + printable(text) + "'; times and counts are from 1e-12 to 1e12");
  }
  return value;
}

MeasuredWorkload& workload_named(const std::string& name, ScalingData& data) {
  for (MeasuredWorkload& one : data.workloads) {
    if (one.name == name) return one;
  }
  data.workloads.push_back({.name = name});
  return data.workloads.back();
}

void read_row(const ScalingSource& source, const Table& table, const Row& row, ScalingData& data) {
  std::vector<double> values;
  for (const std::string& variable : data.variables) {
    const auto value = positive(row, source.columns.at(variable), table);
    if (value) values.push_back(*value);
  }
  const std::optional<double> time = positive(row, source.columns.at("time"), table);
  if (values.size() < data.variables.size() || !time) {
    ++data.skipped;
    return;
  }
  const auto column = source.columns.find("model");
  const std::string model = column == source.columns.end()
                                ? source.model
                                : std::string(measured::cell(row, column->second));
  MeasuredWorkload& workload = workload_named(model.empty() ? "all runs" : model, data);
  workload.shared.model = model;
  workload.rows.push_back({std::move(values), *time});
}

ScalingData read_by_columns(const ScalingSource& source) {
  if (source.with_operators) {
    bad("--with operators needs rows that say which request ran; columns of a CSV file do not");
  }
  std::vector<Table> tables = measured::open_tables(source.data);
  if (tables.size() != 1) bad("--columns is for one CSV file, not for a folder or a store");
  Table& table = tables.front();
  check_columns(source, table);
  ScalingData data;
  const bool samples = source.columns.contains("samples");
  data.time = source.time.value_or(samples ? TimeOf::Epoch : TimeOf::Step);
  data.variables = variables_of(source, data.time);
  for (const auto& [column, text] : source.where) {
    const auto& there = table.columns();
    if (std::find(there.begin(), there.end(), column) == there.end()) {
      bad("--where: " + table.where() + " has no column '" + printable(column) + "'; it has " +
          joined(there));
    }
  }
  for (Row row; table.next(row);) {
    if (is_wanted(source, row)) read_row(source, table, row, data);
  }
  return data;
}

// What requests of a workload have in common, and all that may differ.
struct KnownRun {
  std::string workload;
  std::string model;  // as the request names it
  ScalingWorkload shared;
  std::vector<std::optional<double>> values;  // of scaling_variables()
  std::optional<double> operators_s;
  double time_s = 0;
};

std::string without_parameters(const std::string& name) { return name.substr(0, name.find(':')); }

KnownRun known_run(const measured::Measurement& one, TimeOf time, bool with_operators,
                   const Library& library) {
  const Request request =
      parse_request(*one.request, one.file + ", line " + std::to_string(one.line));
  const Resolved resolved = resolve_job(request, library);
  KnownRun run;
  run.model = request.model;
  run.time_s = one.measured;
  run.shared.device = without_parameters(resolved.cluster.devices.front().name);
  run.shared.precision = to_string(resolved.precision);
  run.shared.framework = resolved.framework->name;
  run.workload = one.model + ", " + run.shared.device + ", " + run.shared.precision;
  for (const std::string_view variable : scaling_variables()) {
    const bool counts = variable != "samples" || time != TimeOf::Step;
    run.values.push_back(counts ? scaling::value_of(variable, resolved, time) : std::nullopt);
  }
  if (with_operators) {
    const Question question(resolved, library);
    run.operators_s =
        operators::detail_of(question).step.value * scaling::steps_in(time, resolved).value_or(1);
  }
  return run;
}

std::vector<KnownRun> known_runs(const ScalingSource& source, TimeOf time, const Library& library,
                                 std::size_t& skipped) {
  const std::size_t wanted =
      measured::report_number_named(time == TimeOf::Step    ? "step_time_s"
                                    : time == TimeOf::Epoch ? "epoch_time_s"
                                                            : "total_time_s");
  std::vector<KnownRun> runs;
  for (Table& table : measured::open_tables(source.data)) {
    measured::Measurements rows(table);
    if (!rows.obstacle().empty()) continue;
    for (std::vector<measured::Measurement> found; rows.next(found); found.clear()) {
      for (const measured::Measurement& one : found) {
        if (!one.request || one.number != wanted || one.split == "test") continue;
        const auto model = source.where.find("model");
        if (model != source.where.end() && model->second != one.model) continue;
        try {
          runs.push_back(known_run(one, time, source.with_operators, library));
        } catch (const Error&) {
          ++skipped;  // what cannot be predicted
        }
      }
    }
  }
  return runs;
}

// The variables that every run tells, that are not the same in all of them and that are not
// another one again, as nodes are where each has one worker.
std::vector<std::size_t> varied(const std::vector<KnownRun>& runs) {
  std::vector<std::size_t> result;
  const auto is_again = [&](std::size_t v) {
    return std::any_of(result.begin(), result.end(), [&](std::size_t other) {
      return std::all_of(runs.begin(), runs.end(),
                         [&](const KnownRun& run) { return run.values[v] == run.values[other]; });
    });
  };
  for (std::size_t v = 0; v < scaling_variables().size(); ++v) {
    std::set<double> values;
    const bool all = std::all_of(runs.begin(), runs.end(), [&](const KnownRun& run) {
      if (run.values[v]) values.insert(*run.values[v]);
      return run.values[v].has_value();
    });
    if (all && values.size() > 1 && !is_again(v)) result.push_back(v);
  }
  return result;
}

ScalingData read_known(const ScalingSource& source, const Library& library) {
  for (const auto& [column, text] : source.where) {
    if (column != "model") bad("--where: without --columns only model=NAME can be asked for");
  }
  ScalingData data;
  data.time = source.time.value_or(TimeOf::Step);
  data.with_operators = source.with_operators;
  const std::vector<KnownRun> runs = known_runs(source, data.time, library, data.skipped);
  const std::vector<std::size_t> use = varied(runs);
  for (const std::size_t v : use) data.variables.emplace_back(scaling_variables()[v]);
  for (const KnownRun& run : runs) {
    MeasuredWorkload& workload = workload_named(run.workload, data);
    if (workload.rows.empty()) {
      workload.shared = run.shared;
      workload.shared.model = run.model;
    } else if (workload.shared.model != run.model) {
      workload.shared.model = without_parameters(run.model);
    }
    ScalingRow row{{}, run.time_s};
    for (const std::size_t v : use) row.values.push_back(*run.values[v]);
    if (run.operators_s) row.values.push_back(*run.operators_s);
    workload.rows.push_back(std::move(row));
  }
  return data;
}

}  // namespace

ScalingData read_scaling_data(const ScalingSource& source, const Library& library) {
  ScalingData data = source.columns.empty() ? read_known(source, library) : read_by_columns(source);
  if (data.workloads.empty() && !source.columns.empty()) {
    throw Error(ErrorKind::NotFound, "'" + printable(source.data.string()) +
                                         "': no row is complete" +
                                         (source.where.empty() ? "" : " and as --where says"));
  }
  if (data.workloads.empty() || data.variables.empty()) {
    throw Error(
        ErrorKind::NotFound,
        "'" + printable(source.data.string()) +
            "': no run whose time depends on samples, "
            "workers, nodes, batch or cores; of a CSV file of your own say which columns are "
            "what, as in --columns time=step_s,workers=gpus,batch=batch");
  }
  return data;
}

}  // namespace foretrain::train
