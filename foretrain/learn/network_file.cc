// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/network_file.h"

#include <cmath>

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/checksum.h"

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
    shape.copied_from = count(fields, "copied_from", 1, static_cast<std::int64_t>(shape.depth));
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

std::vector<float> read_numbers(const std::string& text, const std::string& where) {
  std::vector<float> values;
  try {
    values = floats_from_base64(text);
  } catch (const Error& error) {
    bad(where, error.what());
  }
  for (const float value : values) {
    if (!std::isfinite(value)) bad(where, "a number that is not finite");
  }
  return values;
}

NamedMatrix read_parameter(const Json& json, const std::string& where, const ParameterSize& size) {
  const std::string here = where + ", parameter '" + size.name + "'";
  JsonFields fields(json, here);
  const bool same = fields.required_text("name") == size.name &&
                    fields.integer("rows") == static_cast<std::int64_t>(size.rows) &&
                    fields.integer("columns") == static_cast<std::int64_t>(size.columns);
  NamedMatrix parameter{size.name, {}};
  parameter.matrix.rows = size.rows;
  parameter.matrix.columns = size.columns;
  parameter.matrix.values = read_numbers(fields.required_text("data"), here);
  fields.finish();
  if (!same || parameter.matrix.values.size() != size.rows * size.columns) {
    bad(here, "is missing or of another size than the shape asks for");
  }
  return parameter;
}

void check_sum(const Json& json, JsonFields& fields) {
  const std::optional<std::int64_t> given = fields.integer("checksum");
  Json summed = json;
  summed.erase("checksum");
  if (given != static_cast<std::int64_t>(checksum(json_text(summed)))) {
    bad(fields.where(), "its checksum is missing or wrong; the file is damaged, write it anew");
  }
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
  json["checksum"] = checksum(json_text(json));
  return json_text(json);
}

GraphNetwork read_network(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  JsonFields fields(json, where);
  GraphNetwork network{read_shape(fields.require("shape"), where), {}};
  const Json& parameters = fields.require("parameters");
  check_sum(json, fields);
  fields.finish();
  const std::vector<ParameterSize> sizes = parameter_sizes(network.shape);
  if (!parameters.is_array() || parameters.size() != sizes.size()) {
    bad(where, "other parameters than the shape asks for");
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    network.parameters.push_back(read_parameter(parameters[i], where, sizes[i]));
  }
  return network;
}

}  // namespace foretrain::learn
