// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/network_file.h"

#include <cmath>

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain::learn {
namespace {

constexpr std::int64_t kMostWidth = 4096;
constexpr std::int64_t kMostSteps = 10'000;  // of depth and readout

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::size_t count(JsonFields& fields, const char* key, std::int64_t least, std::int64_t most) {
  const std::int64_t value = fields.integer(key).value_or(-1);
  if (value < least || value > most)
    bad(fields.where(), std::string("'") + key + "' is out of range");
  return static_cast<std::size_t>(value);
}

NetworkShape read_shape(const Json& json, const std::string& where) {
  JsonFields fields(json, where + ", 'shape'");
  NetworkShape shape;
  const auto convolution = convolution_named(fields.required_text("convolution"));
  const auto readout = readout_named(fields.required_text("readout"));
  if (!convolution || !readout) bad(where, "an unknown convolution or readout");
  shape.convolution = *convolution;
  shape.readout = *readout;
  shape.gru = fields.boolean("gru").value_or(true);
  shape.features = count(fields, "features", 1, kMostWidth);
  shape.whole_features = count(fields, "whole_features", 0, kMostWidth);
  shape.width = count(fields, "width", 1, kMostWidth);
  shape.depth = count(fields, "depth", 1, kMostSteps);
  shape.readout_steps = count(fields, "readout_steps", 0, kMostSteps);
  shape.outputs = count(fields, "outputs", 1, kMostWidth);
  shape.leaky_outputs = fields.boolean("leaky_outputs").value_or(false);
  if (fields.find("copied_from") != nullptr) {
    shape.copied_from = count(fields, "copied_from", 1, kMostSteps);
  }
  fields.finish();
  return shape;
}

Json write_shape(const NetworkShape& shape) {
  Json json{{"convolution", name_of(shape.convolution)},
            {"readout", name_of(shape.readout)},
            {"gru", shape.gru},
            {"features", shape.features},
            {"whole_features", shape.whole_features},
            {"width", shape.width},
            {"depth", shape.depth},
            {"readout_steps", shape.readout_steps},
            {"outputs", shape.outputs},
            {"leaky_outputs", shape.leaky_outputs}};
  if (shape.copied_from) json["copied_from"] = *shape.copied_from;
  return json;
}

// Fills a parameter whose name and size are known.
void read_parameter(const Json& json, const std::string& where, NamedMatrix& into) {
  JsonFields fields(json, where + ", 'parameters'");
  const bool same = fields.required_text("name") == into.name &&
                    fields.integer("rows") == static_cast<std::int64_t>(into.matrix.rows) &&
                    fields.integer("columns") == static_cast<std::int64_t>(into.matrix.columns);
  std::vector<float> values = floats_from_base64(fields.required_text("data"));
  fields.finish();
  if (!same || values.size() != into.matrix.values.size()) {
    bad(where,
        "parameter '" + into.name + "' is missing or of another size than the shape asks for");
  }
  for (const float value : values) {
    if (!std::isfinite(value))
      bad(where, "parameter '" + into.name + "' has a number that is not finite");
  }
  into.matrix.values = std::move(values);
}

}  // namespace

std::string write_network(const GraphNetwork& network) {
  Json json{{"shape", write_shape(network.shape)}, {"parameters", Json::array()}};
  for (const NamedMatrix& one : network.parameters) {
    json["parameters"].push_back({{"name", one.name},
                                  {"rows", one.matrix.rows},
                                  {"columns", one.matrix.columns},
                                  {"data", base64(std::span<const float>(one.matrix.values))}});
  }
  return json.dump();
}

GraphNetwork read_network(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  JsonFields fields(json, where);
  GraphNetwork network = make_network(read_shape(fields.require("shape"), where), 0);
  const Json& parameters = fields.require("parameters");
  fields.finish();
  if (!parameters.is_array() || parameters.size() != network.parameters.size()) {
    bad(where, "other parameters than the shape asks for");
  }
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    read_parameter(parameters[i], where, network.parameters[i]);
  }
  return network;
}

}  // namespace foretrain::learn
