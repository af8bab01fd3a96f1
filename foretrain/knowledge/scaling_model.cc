// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/scaling_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/learn/checksum.h"
#include "foretrain/learn/regressor_file.h"

namespace foretrain {
namespace {

constexpr int kVersion = 1;
constexpr double kLeastTime = 1e-6;  // seconds
constexpr double kWidest = 50;       // an end of an interval, as a logarithm
constexpr std::array<std::string_view, 5> kVariables{"samples", "workers", "nodes", "batch",
                                                     "cores"};
constexpr std::array kTimes{TimeOf::Step, TimeOf::Epoch, TimeOf::Total};

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

// The variables as forms count them.
std::vector<std::string> known_to_forms(const ScalingModel& model) {
  std::vector<std::string> names = model.variables;
  if (model.with_operators) names.emplace_back(kOperatorsVariable);
  return names;
}

ScalingForm read_form(JsonFields& fields, const ScalingModel& model) {
  ScalingForm form;
  const std::vector<std::string> names = known_to_forms(model);
  for (const std::string& text : fields.required_texts("features")) {
    form.map.features.push_back(learn::product_from(text, names, fields.where()));
  }
  form.regressor = learn::read_regressor(json_text(fields.require("regressor")),
                                         form.map.features.size(), fields.where());
  form.log_time = fields.boolean("log_time").value_or(false);
  form.on_operators = fields.boolean("on_operators").value_or(false);
  if (form.on_operators && !(form.log_time && model.with_operators)) {
    bad(fields.where(), "'on_operators' needs 'log_time' and the operator engine's times");
  }
  return form;
}

ScalingRange read_range(const Json& json, const std::string& where) {
  JsonFields fields(json, where + ", 'domain'");
  const ScalingRange range{fields.required_number("least"), fields.required_number("most")};
  fields.ignore("variable");
  fields.finish();
  if (!(range.least > 0 && range.least <= range.most)) bad(where, "'domain' has an empty range");
  return range;
}

void read_interval(JsonFields& fields, ScalingWorkload& workload) {
  workload.low = fields.number("low");
  workload.high = fields.number("high");
  const bool both = workload.low && workload.high;
  if (!both && (workload.low || workload.high)) bad(fields.where(), "half an interval");
  if (both && !(*workload.low <= *workload.high && *workload.low >= -kWidest &&
                *workload.high <= kWidest)) {
    bad(fields.where(), "its interval is none");
  }
}

ScalingWorkload read_workload(const Json& json, const ScalingModel& model,
                              const std::string& where) {
  JsonFields fields(json, where + ", 'workloads'");
  ScalingWorkload workload;
  workload.model = fields.required_text("model");
  workload.device = fields.required_text("device");
  workload.precision = fields.required_text("precision");
  workload.framework = fields.required_text("framework");
  workload.method = fields.required_text("method");
  workload.error = fields.required_number("error");
  const std::int64_t rows = fields.integer("rows").value_or(-1);
  if (rows < 0) bad(fields.where(), "'rows' is no number of rows");
  workload.rows = static_cast<std::size_t>(rows);
  read_interval(fields, workload);
  for (const Json& one : fields.required_list("domain")) {
    workload.domain.push_back(read_range(one, fields.where()));
  }
  if (workload.domain.size() != model.variables.size()) {
    bad(fields.where(), "'domain' has not one range for each variable");
  }
  workload.form = read_form(fields, model);
  fields.finish();
  return workload;
}

OrderedJson workload_json(const ScalingWorkload& workload, const ScalingModel& model) {
  OrderedJson json{{"model", workload.model},
                   {"device", workload.device},
                   {"precision", workload.precision},
                   {"framework", workload.framework},
                   {"method", workload.method},
                   {"error", workload.error},
                   {"rows", workload.rows}};
  if (workload.low) json["low"] = *workload.low;
  if (workload.high) json["high"] = *workload.high;
  json["domain"] = OrderedJson::array();
  for (std::size_t i = 0; i < workload.domain.size(); ++i) {
    json["domain"].push_back({{"variable", model.variables[i]},
                              {"least", workload.domain[i].least},
                              {"most", workload.domain[i].most}});
  }
  const std::vector<std::string> names = known_to_forms(model);
  json["features"] = OrderedJson::array();
  for (const learn::Product& product : workload.form.map.features) {
    json["features"].push_back(learn::name_of(product, names));
  }
  json["log_time"] = workload.form.log_time;
  json["on_operators"] = workload.form.on_operators;
  json["regressor"] = ordered_json(learn::write_regressor(workload.form.regressor));
  return json;
}

// Of the workloads alone: notes may be edited.
std::uint32_t sum_of(const Json& workloads) { return learn::checksum(json_text(workloads)); }

void read_head(JsonFields& fields, ScalingModel& model) {
  const std::string& where = fields.where();
  const std::optional<TimeOf> time = time_of_named(fields.required_text("time"));
  if (!time) bad(where, "'time' is none of step, epoch, total");
  model.time = *time;
  model.variables = fields.required_texts("variables");
  for (const std::string& name : model.variables) {
    if (std::find(kVariables.begin(), kVariables.end(), name) == kVariables.end() ||
        std::count(model.variables.begin(), model.variables.end(), name) != 1) {
      bad(where, "'" + printable(name) + "' in 'variables' is unknown or given twice");
    }
  }
  model.with_operators = fields.boolean("with_operators").value_or(false);
  model.constants = fields.required_text("constants");
  model.confidence = fields.required_number("confidence");
  if (!(model.confidence > 0 && model.confidence < 1)) bad(where, "'confidence' is no probability");
}

}  // namespace

std::string_view name_of(TimeOf time) {
  switch (time) {
    case TimeOf::Step:
      return "step";
    case TimeOf::Epoch:
      return "epoch";
    case TimeOf::Total:
      break;
  }
  return "total";
}

std::optional<TimeOf> time_of_named(std::string_view name) {
  for (const TimeOf time : kTimes) {
    if (name_of(time) == name) return time;
  }
  return std::nullopt;
}

std::span<const std::string_view> scaling_variables() { return kVariables; }

double time_s(const ScalingForm& form, std::span<const double> values) {
  const double told = learn::evaluate(form.regressor, learn::evaluate(form.map, values));
  const double time =
      form.log_time ? std::exp(told) * (form.on_operators ? values.back() : 1) : told;
  if (std::isnan(time)) return std::numeric_limits<double>::infinity();
  return std::max(kLeastTime, time);
}

bool is_inside(const ScalingWorkload& workload, std::span<const double> values) {
  for (std::size_t i = 0; i < workload.domain.size(); ++i) {
    if (values[i] < workload.domain[i].least || values[i] > workload.domain[i].most) return false;
  }
  return true;
}

std::vector<ScalingForecast> forecast_at(const ScalingModel& model,
                                         std::span<const double> values) {
  std::vector<ScalingForecast> forecasts;
  for (const ScalingWorkload& one : model.workloads) {
    ScalingForecast forecast{.model = one.model,
                             .device = one.device,
                             .value = time_s(one.form, values),
                             .inside = is_inside(one, values)};
    if (one.low && forecast.inside) {
      forecast.low = forecast.value * std::exp(std::min(*one.low, 0.0));
      forecast.high = forecast.value * std::exp(std::max(*one.high, 0.0));
    }
    forecasts.push_back(std::move(forecast));
  }
  return forecasts;
}

ScalingModel read_scaling(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields fields(file, where);
  if (fields.required_text("format") != kScalingFormat ||
      fields.required_number("version") != kVersion) {
    bad(where, "not a scaling model of version 1; `foretrain fit scaling` writes one");
  }
  fields.ignore("notes");
  ScalingModel model;
  read_head(fields, model);
  const Json& workloads = fields.required_list("workloads");
  if (fields.integer("checksum") != static_cast<std::int64_t>(sum_of(workloads))) {
    bad(where, "its checksum is missing or wrong; the file is damaged, write it anew");
  }
  for (const Json& one : workloads) model.workloads.push_back(read_workload(one, model, where));
  fields.finish();
  return model;
}

std::string write_scaling(const ScalingModel& model, std::span<const std::string> notes) {
  OrderedJson file{{"format", kScalingFormat},
                   {"version", kVersion},
                   {"notes", std::vector<std::string>(notes.begin(), notes.end())},
                   {"time", name_of(model.time)},
                   {"variables", model.variables},
                   {"with_operators", model.with_operators},
                   {"constants", model.constants},
                   {"confidence", model.confidence},
                   {"workloads", OrderedJson::array()}};
  for (const ScalingWorkload& one : model.workloads) {
    file["workloads"].push_back(workload_json(one, model));
  }
  // As the reader sees them: keys sorted.
  file["checksum"] = sum_of(parse_json(json_text(file["workloads"])));
  return json_text(file, 1) + "\n";
}

}  // namespace foretrain
