// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/scaling_features.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace foretrain::train {
namespace {

using learn::FeatureMap;
using learn::Product;
using learn::TermKind;

// Of rows: what varies, and what is known by name.
class Variables {
 public:
  Variables(const ScalingRows& rows, const std::vector<std::string>& names) : names_(names) {
    for (std::size_t v = 0; v < names.size(); ++v) {
      std::set<double> values;
      for (const ScalingRow& row : rows) values.insert(row.values[v]);
      varies_.push_back(values.size() > 1);
      counted_.push_back((names[v] == "workers" || names[v] == "nodes") && *values.begin() <= 1);
    }
  }

  std::optional<std::size_t> place(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names_.begin());
  }
  std::optional<std::size_t> varying(std::string_view name) const {
    const auto found = place(name);
    return found && varies_[*found] ? found : std::nullopt;
  }
  std::vector<std::size_t> varying() const {
    std::vector<std::size_t> use;
    for (std::size_t v = 0; v < names_.size(); ++v) {
      if (varies_[v]) use.push_back(v);
    }
    return use;
  }
  const std::vector<bool>& counted() const { return counted_; }

 private:
  const std::vector<std::string>& names_;
  std::vector<bool> varies_{};
  std::vector<bool> counted_{};
};

// Ernest's features besides 1: s / m, log m, m. The samples of one worker's step are its batch.
FeatureMap ernest_features(const Variables& known) {
  FeatureMap map;
  const auto samples = known.place("samples");
  const auto workers = known.place("workers");
  if (samples && workers) {
    map.features.push_back({{*samples, TermKind::Raw}, {*workers, TermKind::Inverse}});
  } else if (samples) {
    map.features.push_back({{*samples, TermKind::Raw}});
  } else if (const auto batch = known.place("batch")) {
    map.features.push_back({{*batch, TermKind::Raw}});
  }
  if (workers) {
    map.features.push_back({{*workers, TermKind::Log}});
    map.features.push_back({{*workers, TermKind::Raw}});
  }
  return map;
}

// What data-parallel training spends time on, each cost wholly on its share of a core or not at
// all: the work of a worker's samples, that of its steps, and in each step an exchange that grows
// with the logarithm or the number of workers or nodes, or does not grow. Besides 1.
FeatureMap cost_features(const Variables& known) {
  Product per_sample;
  Product per_step;
  if (const auto samples = known.varying("samples")) {
    per_sample.push_back({*samples, TermKind::Raw});
    if (const auto workers = known.varying("workers")) {
      per_sample.push_back({*workers, TermKind::Inverse});
    }
    per_step = per_sample;
    if (const auto batch = known.varying("batch")) per_step.push_back({*batch, TermKind::Inverse});
  } else if (const auto batch = known.varying("batch")) {
    per_sample.push_back({*batch, TermKind::Raw});
  }
  std::vector<Product> costs{per_sample, per_step};
  for (const char* group : {"workers", "nodes"}) {
    const auto ranks = known.varying(group);
    if (!ranks) continue;
    for (const TermKind growth : {TermKind::Several, TermKind::Log, TermKind::Raw}) {
      costs.push_back(per_step);
      costs.back().push_back({*ranks, TermKind::Several});
      if (growth != TermKind::Several) costs.back().push_back({*ranks, growth});
    }
  }
  FeatureMap map;
  const auto add = [&](const Product& cost) {
    if (cost.empty() ||  // the intercept
        std::find(map.features.begin(), map.features.end(), cost) != map.features.end()) {
      return;
    }
    map.features.push_back(cost);
  };
  for (Product& cost : costs) {
    add(cost);
    if (const auto cores = known.varying("cores")) {
      cost.push_back({*cores, TermKind::Inverse});
      add(cost);
    }
  }
  return map;
}

}  // namespace

FeatureMap features_for(const ScalingRows& rows, const std::vector<std::string>& variables,
                        bool with_operators, const Setting& setting) {
  const Variables known(rows, variables);
  if (setting.method == Method::Ernest) return ernest_features(known);
  FeatureMap map;
  if (makes_products(setting.method)) {
    for (const std::size_t v : known.varying()) map.features.push_back({{v, TermKind::Log}});
    return map;
  }
  map = setting.method == Method::Costs
            ? cost_features(known)
            : learn::all_products(known.varying(), known.counted(), setting.degree);
  if (with_operators && is_of_plain_time(setting.method)) {
    map.features.push_back({{variables.size(), TermKind::Raw}});
  }
  return map;
}

}  // namespace foretrain::train
