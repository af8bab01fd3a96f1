// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/prediction_json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::evaluate {
namespace {

constexpr std::array kParts{
    &Breakdown::compute, &Breakdown::memory, &Breakdown::exposed_communication,
    &Breakdown::host,    &Breakdown::bubble, &Breakdown::input};

bool is_finite(const Prediction& prediction) {
  return std::all_of(prediction.numbers.begin(), prediction.numbers.end(),
                     [](const auto& number) { return !number || std::isfinite(*number); }) &&
         std::all_of(kParts.begin(), kParts.end(), [&](const auto part) {
           return std::isfinite((prediction.breakdown.*part).count());
         });
}

void write_report(const Prediction& prediction, JsonWriter& json) {
  json.key("numbers").begin_array();
  for (const std::optional<double>& number : prediction.numbers) {
    if (number) {
      json.value(*number);
    } else {
      json.null();
    }
  }
  json.end_array().key("breakdown").begin_array();
  for (const auto part : kParts) json.value((prediction.breakdown.*part).count());
  json.end_array().key("regime").begin_array();
  for (const std::string& word : prediction.regime) json.value(word);
  json.end_array().field("fits", prediction.fits).field("model", prediction.model);
}

// An array of a known length.
const Json& list(JsonFields& fields, const char* name, std::size_t length) {
  const Json& array = fields.require(name);
  if (!array.is_array() || array.size() != length) {
    throw Error(ErrorKind::BadInput, fields.where() + ": '" + name + "' is no list of " +
                                         std::to_string(length) + "; both programs must be alike");
  }
  return array;
}

void read_report(JsonFields& fields, Prediction& prediction) {
  for (const Json& number : list(fields, "numbers", measured::report_numbers().size())) {
    prediction.numbers.push_back(number.is_null() ? std::optional<double>() : number.get<double>());
  }
  const Json& parts = list(fields, "breakdown", kParts.size());
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    prediction.breakdown.*kParts[i] = Seconds(parts[i].get<double>());
  }
  const Json& words = list(fields, "regime", kTraits);
  for (std::size_t i = 0; i < kTraits; ++i) prediction.regime[i] = words[i].get<std::string>();
  prediction.fits = fields.boolean("fits").value_or(true);
  prediction.model = fields.required_text("model");
}

}  // namespace

std::string prediction_json(const std::string& request, const Prediction& prediction) {
  JsonWriter json;
  json.begin_object().field("request", request);
  if (!is_finite(prediction)) return json.end_object().finish();
  json.field("error", prediction.error).field("precision", prediction.precision);
  if (prediction.batch) json.field("batch", static_cast<double>(*prediction.batch));
  if (prediction.workers) json.field("workers", static_cast<double>(*prediction.workers));
  if (prediction.error.empty()) write_report(prediction, json);
  return json.end_object().finish();
}

AnsweredRequest parse_prediction(const std::string& line, const std::string& where) {
  const Json json = parse_json(line, where);
  JsonFields fields(json, where);
  AnsweredRequest answered{.request = fields.required_text("request"), .prediction = {}};
  if (!fields.has("error")) return answered;
  Prediction& prediction = answered.prediction.emplace();
  try {
    prediction.error = fields.required_text("error");
    prediction.precision = fields.required_text("precision");
    prediction.batch = fields.integer("batch");
    if (const auto workers = fields.integer("workers")) {
      prediction.workers = static_cast<int>(*workers);
    }
    if (prediction.error.empty()) read_report(fields, prediction);
  } catch (const Json::exception&) {
    throw Error(ErrorKind::BadInput, where + ": is no prediction");
  }
  fields.finish();
  return answered;
}

}  // namespace foretrain::evaluate
