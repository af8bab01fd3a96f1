// SPDX-License-Identifier: Apache-2.0
// Scores of resources as JSON and their cases as CSV.
#include "foretrain/base/csv.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/evaluate/resources.h"

namespace foretrain::evaluate {
namespace {

std::optional<double> percent(const std::optional<double>& share) {
  return share ? std::optional(100 * *share) : std::nullopt;
}

// What both kinds of scores have.
template <typename Score>
void write_errors(const Score& score, JsonWriter& json) {
  json.field("jobs", static_cast<double>(score.jobs));
  json.field("missing", static_cast<double>(score.missing));
  json.field("mean", 100 * score.mean).field("median", 100 * score.median);
  json.field("floor_mean", percent(score.floor_mean));
  json.field("floor_median", percent(score.floor_median));
  json.field("log_rmse", score.log_rmse);
  json.field("coverage", percent(score.coverage));
}

std::string text_of(const std::optional<double>& value) {
  return value ? csv_field(*value) : std::string();
}

}  // namespace

std::string to_json(const ResourceEvaluation& evaluation) {
  JsonWriter json;
  json.begin_object().key("resources").begin_array();
  for (const ResourceScore& score : evaluation.scores) {
    json.begin_object().field("setting", score.setting).field("role", name_of(score.role));
    json.field("resource", name_of(score.resource));
    write_errors(score, json);
    for (const resource::Number number : resource::kNumbers) {
      json.field(std::string(name_of(number)), 100 * score.of_number[index_of(number)]);
    }
    json.field("nrmse", score.nrmse).end_object();
  }
  json.end_array().key("numbers").begin_array();
  for (const NumberScore& score : evaluation.numbers) {
    json.begin_object().field("setting", score.setting).field("number", score.number);
    write_errors(score, json);
    json.end_object();
  }
  return json.end_array().end_object().finish();
}

std::string resource_rows(const ResourceEvaluation& evaluation) {
  std::string text =
      "setting,split,model,number,repeats,measured,predicted,low,high,engine,runs,request\n";
  for (const ResourceCase& one : evaluation.cases) {
    std::string runs;
    for (const double value : one.repeats) {
      runs += (runs.empty() ? "" : " ") + format("%.6g", value);
    }
    text += csv_field(one.setting) + "," + csv_field(one.split) + "," + csv_field(one.model) + "," +
            one.number + "," + std::to_string(one.repeats.size()) + "," + csv_field(one.measured) +
            "," + text_of(one.predicted) + "," + text_of(one.low) + "," + text_of(one.high) + "," +
            csv_field(one.engine) + "," + runs + "," + csv_field(one.request) + "\n";
  }
  return text;
}

}  // namespace foretrain::evaluate
