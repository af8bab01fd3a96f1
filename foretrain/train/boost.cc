// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/boost.h"

#include <xgboost/c_api.h>

#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain::train {
namespace {

void check(int code) {
  if (code == 0) return;
  const std::string what = XGBGetLastError();
  throw Error(ErrorKind::Io, "XGBoost: " + what.substr(0, what.find('\n')));  // no stack trace
}

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// The examples as XGBoost holds them.
class Examples {
 public:
  explicit Examples(const BoostData& data) {
    const std::size_t columns = data.features.front().size();
    std::vector<float> flat;
    for (const std::vector<double>& row : data.features) {
      for (const double value : row) flat.push_back(static_cast<float>(value));
    }
    check(XGDMatrixCreateFromMat(flat.data(), data.features.size(), columns,
                                 std::numeric_limits<float>::quiet_NaN(), &handle_));
    check(
        XGDMatrixSetFloatInfo(handle_, "label", floats(data.targets).data(), data.targets.size()));
    check(
        XGDMatrixSetFloatInfo(handle_, "weight", floats(data.weights).data(), data.weights.size()));
  }
  ~Examples() { XGDMatrixFree(handle_); }
  Examples(const Examples&) = delete;
  Examples& operator=(const Examples&) = delete;
  DMatrixHandle handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

class Booster {
 public:
  Booster(const Examples& examples, const BoostOptions& options, double base) {
    DMatrixHandle one = examples.handle();
    check(XGBoosterCreate(&one, 1, &handle_));
    set("nthread", "1");
    set("verbosity", "0");
    set("booster", "gbtree");
    set("tree_method", "exact");
    set("objective", options.absolute ? "reg:absoluteerror" : "reg:squarederror");
    set("eta", std::to_string(options.rate));
    set("max_depth", std::to_string(options.depth));
    set("subsample", std::to_string(options.rows));
    set("colsample_bytree", std::to_string(options.columns));
    set("min_child_weight", std::to_string(options.least_weight));
    set("lambda", std::to_string(options.shrinkage));
    set("seed", std::to_string(options.seed));
    set("base_score", std::to_string(base));
    for (int round = 0; round < options.rounds; ++round) {
      check(XGBoosterUpdateOneIter(handle_, round, one));
    }
  }
  ~Booster() { XGBoosterFree(handle_); }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  Json model() const {
    bst_ulong size = 0;
    const char* text = nullptr;
    check(XGBoosterSaveModelToBuffer(handle_, R"({"format": "json"})", &size, &text));
    return parse_json({text, size}, "XGBoost's model");
  }

 private:
  void set(const char* name, const std::string& value) {
    check(XGBoosterSetParam(handle_, name, value.c_str()));
  }
  BoosterHandle handle_ = nullptr;
};

// XGBoost's list of nodes as ours: level by level, children follow each other, leaves have no
// feature.
void append(const Json& tree, learn::Trees& trees) {
  const Json& left = tree.at("left_children");
  const Json& right = tree.at("right_children");
  const Json& features = tree.at("split_indices");
  const Json& conditions = tree.at("split_conditions");
  trees.roots.push_back(static_cast<std::int32_t>(trees.nodes.size()));
  struct Pending {
    std::size_t theirs;
    std::size_t ours;
  };
  trees.nodes.emplace_back();
  std::deque<Pending> pending{{0, trees.nodes.size() - 1}};
  while (!pending.empty()) {
    const Pending one = pending.front();
    pending.pop_front();
    const std::int64_t child = left.at(one.theirs).get<std::int64_t>();
    const float value = conditions.at(one.theirs).get<float>();
    if (child < 0) {
      trees.nodes[one.ours] = {-1, value, 0};
      continue;
    }
    const std::size_t place = trees.nodes.size();
    trees.nodes[one.ours] = {features.at(one.theirs).get<std::int32_t>(), value,
                             static_cast<std::int32_t>(place)};
    trees.nodes.resize(place + 2);
    pending.push_back({static_cast<std::size_t>(child), place});
    pending.push_back({right.at(one.theirs).get<std::size_t>(), place + 1});
  }
}

double weighted_mean(const BoostData& data) {
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    sum += data.weights[i] * data.targets[i];
    weight += data.weights[i];
  }
  return sum / weight;
}

}  // namespace

learn::Trees boost(const BoostData& data, const BoostOptions& options) {
  if (data.features.empty()) throw Error(ErrorKind::BadInput, "there is no example to learn from");
  for (const double target : data.targets) {
    if (!std::isfinite(target)) throw Error(ErrorKind::BadInput, "a target is not finite");
  }
  // What XGBoost makes of the base's text is what the trees begin from.
  const double base = std::stod(std::to_string(weighted_mean(data)));
  const Examples examples(data);
  const Json model = Booster(examples, options, base).model();
  learn::Trees trees;
  trees.base = static_cast<float>(base);
  for (const Json& tree : model.at("learner").at("gradient_booster").at("model").at("trees")) {
    append(tree, trees);
  }
  return trees;
}

}  // namespace foretrain::train
