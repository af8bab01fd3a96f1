// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/inspector_network.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/network_file.h"

namespace foretrain {
namespace {

constexpr std::int64_t kMostGroups = 10'000;
constexpr double kMostWork = 1e10;  // multiplications of one prediction: some seconds
constexpr double kWidest = 50;      // an end of an interval, as a logarithm

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::size_t count(JsonFields& fields, const char* key, std::int64_t most) {
  const std::int64_t value = fields.integer(key).value_or(-1);
  if (value < 0 || value > most) bad(fields.where(), std::string("'") + key + "' is out of range");
  return static_cast<std::size_t>(value);
}

std::vector<float> read_numbers(JsonFields& fields, const char* key) {
  std::vector<float> numbers;
  try {
    numbers = floats_from_base64(fields.required_text(key));
  } catch (const Error& error) {
    bad(fields.where(), error.what());
  }
  if (!std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); })) {
    bad(fields.where(), std::string("'") + key + "' has a number that is not finite");
  }
  return numbers;
}

// For so many inputs, or none.
Standard read_standard(const Json& json, std::size_t inputs, const std::string& where) {
  JsonFields fields(json, where);
  Standard standard{read_numbers(fields, "mean"), read_numbers(fields, "deviation")};
  fields.finish();
  const auto fits = [&](const std::vector<float>& numbers) {
    return numbers.empty() || numbers.size() == inputs;
  };
  if (!fits(standard.mean) || standard.mean.size() != standard.deviation.size() ||
      !std::all_of(standard.deviation.begin(), standard.deviation.end(),
                   [](float x) { return x > 0; })) {
    bad(where, "means and deviations are not those of the network's inputs");
  }
  return standard;
}

OrderedJson standard_json(const Standard& standard) {
  return {{"mean", base64(std::span<const float>(standard.mean))},
          {"deviation", base64(std::span<const float>(standard.deviation))}};
}

NetworkOutput read_output(const Json& json, std::size_t features, const std::string& where) {
  JsonFields fields(json, where);
  NetworkOutput output;
  output.name = fields.required_text("name");
  if (fields.has("physics")) {
    output.physics = count(fields, "physics", static_cast<std::int64_t>(features) - 1);
  }
  output.offset = fields.required_number("offset");
  output.scale = fields.required_number("scale");
  output.least = fields.required_number("least");
  output.low = fields.required_number("low");
  output.high = fields.required_number("high");
  output.examples = count(fields, "examples", std::numeric_limits<std::int64_t>::max());
  fields.finish();
  if (!(output.scale > 0) || !(output.low <= output.high) || output.low < -kWidest ||
      output.high > kWidest || (!output.physics && !(output.least > 0))) {
    bad(where, "'" + output.name + "' has a scale or an interval that cannot be");
  }
  return output;
}

OrderedJson output_json(const NetworkOutput& output) {
  OrderedJson json{{"name", output.name},        {"offset", output.offset}, {"scale", output.scale},
                   {"least", output.least},      {"low", output.low},       {"high", output.high},
                   {"examples", output.examples}};
  if (output.physics) json["physics"] = *output.physics;
  return json;
}

Grouping read_grouping(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  Grouping grouping;
  grouping.groups = count(fields, "groups", kMostGroups);
  grouping.proportional = fields.boolean("proportional").value_or(false);
  grouping.seed = count(fields, "seed", std::numeric_limits<std::int64_t>::max());
  fields.finish();
  if (grouping.groups == 0) bad(where, "no groups");
  return grouping;
}

std::map<std::string, double> read_codes(const Json& json, const std::string& where) {
  std::map<std::string, double> codes;
  bool sound = json.is_object();
  for (auto it = json.begin(); sound && it != json.end(); ++it) {
    sound = it.value().is_number();
    if (sound) codes[it.key()] = it.value().get<double>();
  }
  if (!sound) bad(where, "'codes' are no numbers with names");
  return codes;
}

std::vector<std::size_t> read_whole(const Json& json, std::size_t features,
                                    const std::string& where) {
  std::vector<std::size_t> whole;
  bool sound = json.is_array();
  for (std::size_t i = 0; sound && i < json.size(); ++i) {
    sound = json[i].is_number_unsigned() && json[i].get<std::uint64_t>() < features;
    if (sound) whole.push_back(json[i].get<std::size_t>());
  }
  if (!sound) bad(where, "'whole' names a feature that is not there");
  return whole;
}

NodeFeatures read_node_features(JsonFields& fields) {
  const std::string name = fields.required_text("nodes");
  for (const NodeFeatures one : {NodeFeatures::Driple, NodeFeatures::Physics}) {
    if (name == name_of(one)) return one;
  }
  bad(fields.where(), "'nodes' is neither driple nor physics");
}

// Convolutions over all groups and rounds of the readout, which repeat the same weights: a small
// file could ask for hours.
void check_work(const InspectorNetwork& network, const std::string& where) {
  const learn::NetworkShape& shape = network.network.shape;
  const std::size_t rounds =
      shape.readout_steps > 0 ? shape.readout_steps : network.grouping.groups;
  const double steps = static_cast<double>(shape.depth) + static_cast<double>(rounds);
  const auto width = static_cast<double>(shape.width);
  if (static_cast<double>(network.grouping.groups) * width * width * steps <= kMostWork) return;
  bad(where, "groups, width, depth and rounds of the readout ask for too much work");
}

}  // namespace

std::string_view name_of(NodeFeatures features) {
  return features == NodeFeatures::Driple ? "driple" : "physics";
}

std::string write_inspector_network(const InspectorNetwork& network) {
  OrderedJson json{{"grouping",
                    {{"groups", network.grouping.groups},
                     {"proportional", network.grouping.proportional},
                     {"seed", network.grouping.seed}}},
                   {"nodes", name_of(network.nodes)},
                   {"codes", network.codes},
                   {"node_standard", standard_json(network.node_standard)},
                   {"whole", network.whole},
                   {"whole_standard", standard_json(network.whole_standard)},
                   {"outputs", OrderedJson::array()},
                   {"network", ordered_json(learn::write_network(network.network))}};
  for (const NetworkOutput& output : network.outputs) {
    json["outputs"].push_back(output_json(output));
  }
  return json_text(json);
}

InspectorNetwork read_inspector_network(std::string_view text, std::size_t features,
                                        const std::string& where) {
  const Json json = parse_json(text, where);
  JsonFields fields(json, where);
  InspectorNetwork network;
  network.grouping = read_grouping(fields.require("grouping"), where + ", 'grouping'");
  network.nodes = read_node_features(fields);
  network.codes = read_codes(fields.require("codes"), where);
  network.network =
      learn::read_network(json_text(fields.require("network")), where + ", 'network'");
  const learn::NetworkShape& shape = network.network.shape;
  network.node_standard =
      read_standard(fields.require("node_standard"), shape.features, where + ", 'node_standard'");
  network.whole = read_whole(fields.require("whole"), features, where);
  network.whole_standard = read_standard(fields.require("whole_standard"), network.whole.size(),
                                         where + ", 'whole_standard'");
  const Json& outputs = fields.require("outputs");
  if (!outputs.is_array() || outputs.size() != shape.outputs ||
      network.whole.size() != shape.whole_features) {
    bad(where, "its outputs or features are not those of its network");
  }
  for (const Json& one : outputs) {
    network.outputs.push_back(read_output(one, features, where + ", 'outputs'"));
  }
  fields.finish();
  check_work(network, where);
  return network;
}

}  // namespace foretrain
