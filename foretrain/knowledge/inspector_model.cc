// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/inspector_model.h"

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/learn/hybrid_file.h"

namespace foretrain {
namespace {

constexpr int kVersion = 2;  // 1: memory activity was replayed another way
constexpr std::size_t kMostFeatures = 10'000;
constexpr double kWidest = 50;  // an end of an interval, as a logarithm: e^50 is beyond any report

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

const Json& list(JsonFields& fields, const char* key) {
  const Json& found = fields.require(key);
  if (!found.is_array() || found.size() > kMostFeatures) {
    bad(fields.where(), std::string("'") + key + "' is no list, or one that is too long");
  }
  return found;
}

std::vector<std::string> read_features(JsonFields& fields) {
  std::vector<std::string> names;
  for (const Json& name : list(fields, "features")) {
    if (!name.is_string()) bad(fields.where(), "'features' is no list of names");
    names.push_back(name.get<std::string>());
  }
  return names;
}

learn::Hybrid read_hybrid(const std::string& text, std::size_t features, const std::string& where) {
  std::vector<float> numbers;
  try {
    numbers = floats_from_base64(text);
  } catch (const Error& error) {
    bad(where, error.what());
  }
  return learn::hybrid_from(numbers, features, where);
}

InspectorTarget read_target(const Json& json, std::size_t features, const std::string& where) {
  JsonFields fields(json, where + ", 'targets'");
  InspectorTarget target;
  target.name = fields.required_text("name");
  target.low = fields.required_number("low");
  target.high = fields.required_number("high");
  const std::int64_t examples = fields.integer("examples").value_or(-1);
  target.model = read_hybrid(fields.required_text("model"), features,
                             where + ", '" + printable(target.name) + "'");
  fields.finish();
  if (examples < 0) bad(where, "'examples' is no number of examples");
  target.examples = static_cast<std::size_t>(examples);
  if (!(target.low <= target.high && target.low >= -kWidest && target.high <= kWidest)) {
    bad(where, "the interval of '" + printable(target.name) + "' is none");
  }
  return target;
}

FeatureRange read_range(const Json& json, std::size_t features, const std::string& where) {
  JsonFields fields(json, where + ", 'domain'");
  const std::int64_t feature = fields.integer("feature").value_or(-1);
  FeatureRange range{.least = fields.required_number("least"),
                     .most = fields.required_number("most")};
  fields.ignore("name");
  fields.finish();
  if (feature < 0 || static_cast<std::size_t>(feature) >= features) {
    bad(where, "'domain' names a feature that is not there");
  }
  range.feature = static_cast<std::size_t>(feature);
  return range;
}

OrderedJson target_json(const InspectorTarget& target) {
  const std::vector<float> numbers = learn::to_numbers(target.model);
  return {{"name", target.name},
          {"low", target.low},
          {"high", target.high},
          {"examples", target.examples},
          {"model", base64(std::span<const float>(numbers))}};
}

}  // namespace

InspectorModel read_inspector(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields fields(file, where);
  if (fields.required_text("format") != kInspectorFormat ||
      fields.required_number("version") != kVersion) {
    bad(where, "not an inspector of version 2; `foretrain fit inspector` writes one");
  }
  fields.ignore("notes");
  InspectorModel model;
  model.device = fields.required_text("device");
  model.constants = fields.required_text("constants");
  model.confidence = fields.required_number("confidence");
  if (!(model.confidence > 0 && model.confidence < 1)) bad(where, "'confidence' is no probability");
  model.calibration =
      read_calibration(json_text(fields.require("calibration")), where + ", 'calibration'");
  model.features = read_features(fields);
  for (const Json& one : list(fields, "domain")) {
    model.domain.push_back(read_range(one, model.features.size(), where));
  }
  for (const Json& one : list(fields, "targets")) {
    model.targets.push_back(read_target(one, model.features.size(), where));
  }
  if (const Json* network = fields.find("network")) {
    model.network =
        read_inspector_network(json_text(*network), model.features.size(), where + ", 'network'");
  }
  fields.finish();
  return model;
}

std::string write_inspector(const InspectorModel& model, std::span<const std::string> notes) {
  OrderedJson file{{"format", kInspectorFormat},
                   {"version", kVersion},
                   {"notes", std::vector<std::string>(notes.begin(), notes.end())},
                   {"device", model.device},
                   {"constants", model.constants},
                   {"confidence", model.confidence},
                   {"calibration", ordered_json(write_calibration(model.calibration, {}))},
                   {"features", model.features},
                   {"domain", OrderedJson::array()},
                   {"targets", OrderedJson::array()}};
  for (const FeatureRange& range : model.domain) {
    file["domain"].push_back({{"feature", range.feature},
                              {"name", model.features[range.feature]},
                              {"least", range.least},
                              {"most", range.most}});
  }
  for (const InspectorTarget& target : model.targets) {
    file["targets"].push_back(target_json(target));
  }
  if (model.network) {
    file["network"] = ordered_json(write_inspector_network(*model.network));
  }
  return json_text(file, 1) + "\n";
}

}  // namespace foretrain
