// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/checksum.h"
#include "foretrain/learn/network_file.h"
#include "foretrain/train/network.h"

namespace foretrain::train {
namespace {

constexpr const char* kFormat = "foretrain-training";

Json write_moments(const std::vector<std::vector<float>>& moments) {
  Json list = Json::array();
  for (const std::vector<float>& one : moments) list.push_back(base64(std::span<const float>(one)));
  return list;
}

std::vector<float> read_numbers(const std::string& text, const std::string& where) {
  try {
    std::vector<float> numbers = floats_from_base64(text);
    if (std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); })) {
      return numbers;
    }
  } catch (const Error& error) {
    throw Error(ErrorKind::BadInput, where + ": " + error.what());
  }
  throw Error(ErrorKind::BadInput, where + ": its moments have a number that is not finite");
}

std::vector<std::vector<float>> read_moments(const Json& list, const learn::GraphNetwork& network,
                                             const std::string& where) {
  std::vector<std::vector<float>> moments;
  bool sound = list.is_array() && list.size() == network.parameters.size();
  for (std::size_t i = 0; sound && i < list.size(); ++i) {
    sound = list[i].is_string();
    if (!sound) break;
    moments.push_back(read_numbers(list[i].get<std::string>(), where));
    sound = moments.back().size() == network.parameters[i].matrix.values.size();
  }
  if (!sound)
    throw Error(ErrorKind::BadInput, where + ": its moments are not those of its network");
  return moments;
}

std::size_t read_count(JsonFields& fields, const char* key) {
  const std::int64_t value = fields.integer(key).value_or(-1);
  if (value < 0) throw Error(ErrorKind::BadInput, fields.where() + ": '" + key + "' is no count");
  return static_cast<std::size_t>(value);
}

bool same_sizes(const learn::GraphNetwork& a, const learn::GraphNetwork& b) {
  return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(), [](const auto& x, const auto& y) {
                      return x.name == y.name && x.matrix.rows == y.matrix.rows &&
                             x.matrix.columns == y.matrix.columns;
                    });
}

void check_sum(const Json& json, JsonFields& fields) {
  const std::optional<std::int64_t> given = fields.integer("checksum");
  Json summed = json;
  summed.erase("checksum");
  if (given != static_cast<std::int64_t>(learn::checksum(json_text(summed)))) {
    throw Error(ErrorKind::BadInput, fields.where() +
                                         ": its checksum is missing or wrong; the file "
                                         "is damaged, begin the training anew");
  }
}

}  // namespace

std::string write_state(const TrainState& state) {
  Json json{{"format", kFormat},
            {"version", 1},
            {"network", parse_json(learn::write_network(state.network))},
            {"best", parse_json(learn::write_network(state.best))},
            {"best_epoch", state.best_epoch},
            {"epoch", state.epoch},
            {"updates", state.updates},
            {"first_moments", write_moments(state.first_moments)},
            {"second_moments", write_moments(state.second_moments)}};
  if (std::isfinite(state.best_loss)) json["best_loss"] = state.best_loss;
  json["checksum"] = learn::checksum(json_text(json));
  return json_text(json);
}

TrainState read_state(const std::string& bytes, const std::string& where) {
  const Json json = parse_json(bytes, where);
  JsonFields fields(json, where);
  if (fields.required_text("format") != kFormat || fields.integer("version") != 1) {
    throw Error(ErrorKind::BadInput, where + ": no training that was stopped; name its checkpoint");
  }
  check_sum(json, fields);
  TrainState state;
  state.network = learn::read_network(json_text(fields.require("network")), where + ", 'network'");
  state.best = learn::read_network(json_text(fields.require("best")), where + ", 'best'");
  state.best_loss = fields.number("best_loss").value_or(std::numeric_limits<double>::infinity());
  state.best_epoch = read_count(fields, "best_epoch");
  state.epoch = read_count(fields, "epoch");
  state.updates = read_count(fields, "updates");
  state.first_moments = read_moments(fields.require("first_moments"), state.network, where);
  state.second_moments = read_moments(fields.require("second_moments"), state.network, where);
  fields.finish();
  if (!same_sizes(state.network, state.best) || state.best_epoch > state.epoch) {
    throw Error(ErrorKind::BadInput, where + ": its best network is not one of this training");
  }
  return state;
}

}  // namespace foretrain::train
