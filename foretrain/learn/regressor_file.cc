// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/regressor_file.h"

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/hybrid_file.h"

namespace foretrain::learn {
namespace {

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::vector<double> numbers(const Json& json, const std::string& where) {
  if (!json.is_array()) bad(where, "a list of numbers is none");
  std::vector<double> values;
  for (const Json& one : json) {
    if (!one.is_number()) bad(where, "a list of numbers has something else");
    values.push_back(one.get<double>());
  }
  return values;
}

std::vector<std::vector<double>> rows(const Json& json, const std::string& where) {
  if (!json.is_array()) bad(where, "a list of lists is none");
  std::vector<std::vector<double>> values;
  for (const Json& one : json) values.push_back(numbers(one, where));
  return values;
}

OrderedJson json_of(const LinearModel& model) {
  return {{"kind", "linear"}, {"intercept", model.intercept}, {"weights", model.weights}};
}

OrderedJson json_of(const Trees& trees) {
  const std::vector<float> data = to_numbers(Hybrid{.absolute = trees});
  return {{"kind", "trees"}, {"data", base64(std::span<const float>(data))}};
}

OrderedJson json_of(const KernelModel& model) {
  return {
      {"kind", "kernel"},        {"mean", model.input.mean}, {"deviation", model.input.deviation},
      {"gamma", model.gamma},    {"offset", model.offset},   {"vectors", model.vectors},
      {"weights", model.weights}};
}

OrderedJson json_of(const DenseModel& model) {
  OrderedJson json{{"kind", "dense"},
                   {"mean", model.input.mean},
                   {"deviation", model.input.deviation},
                   {"layers", OrderedJson::array()}};
  for (const DenseLayer& layer : model.layers) {
    json["layers"].push_back({{"weights", layer.weights}, {"bias", layer.bias}});
  }
  return json;
}

Trees read_trees(JsonFields& fields, std::size_t features) {
  std::vector<float> data;
  try {
    data = floats_from_base64(fields.required_text("data"));
  } catch (const Error& error) {
    bad(fields.where(), error.what());
  }
  return hybrid_from(data, features, fields.where()).absolute;
}

Standardised read_input(JsonFields& fields) {
  return {numbers(fields.require("mean"), fields.where()),
          numbers(fields.require("deviation"), fields.where())};
}

KernelModel read_kernel(JsonFields& fields) {
  KernelModel model;
  model.input = read_input(fields);
  model.gamma = fields.required_number("gamma");
  model.offset = fields.required_number("offset");
  model.vectors = rows(fields.require("vectors"), fields.where());
  model.weights = numbers(fields.require("weights"), fields.where());
  return model;
}

DenseModel read_dense(JsonFields& fields) {
  DenseModel model;
  model.input = read_input(fields);
  const Json& layers = fields.require("layers");
  if (!layers.is_array()) bad(fields.where(), "'layers' is no list");
  for (const Json& one : layers) {
    JsonFields layer(one, fields.where() + ", 'layers'");
    model.layers.push_back({rows(layer.require("weights"), layer.where()),
                            numbers(layer.require("bias"), layer.where())});
    layer.finish();
  }
  return model;
}

Regressor read_kind(JsonFields& fields, std::size_t features) {
  const std::string kind = fields.required_text("kind");
  if (kind == "linear") {
    return LinearModel{fields.required_number("intercept"),
                       numbers(fields.require("weights"), fields.where())};
  }
  if (kind == "trees") return read_trees(fields, features);
  if (kind == "kernel") return read_kernel(fields);
  if (kind == "dense") return read_dense(fields);
  bad(fields.where(), "'kind' is none of linear, trees, kernel, dense");
}

}  // namespace

std::string write_regressor(const Regressor& regressor) {
  return std::visit([](const auto& model) { return json_text(json_of(model)); }, regressor);
}

Regressor read_regressor(std::string_view text, std::size_t features, const std::string& where) {
  const Json json = parse_json(text, where);
  JsonFields fields(json, where);
  Regressor regressor = read_kind(fields, features);
  fields.finish();
  if (!is_sound(regressor, features)) {
    bad(where, "its numbers do not fit its features; `foretrain fit` writes the file anew");
  }
  return regressor;
}

}  // namespace foretrain::learn
