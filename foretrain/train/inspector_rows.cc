// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/detail/inspector_rows.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "foretrain/base/error.h"

namespace foretrain::train {

std::optional<std::size_t> feature_named(const inspector::Features& features,
                                         std::string_view name) {
  const auto found = std::find(features.names.begin(), features.names.end(), name);
  if (found == features.names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - features.names.begin());
}

std::map<std::string, std::size_t> folds_of(const Rows& examples, std::size_t folds) {
  std::map<std::string, std::size_t> fold;
  for (const InspectorExample* one : examples) fold.emplace(one->job->model, fold.size() % folds);
  return fold;
}

std::pair<double, double> conformal_ends(std::vector<double> differences, double confidence) {
  std::sort(differences.begin(), differences.end());
  const double tail = (1 - confidence) / 2;
  const auto count = static_cast<double>(differences.size());
  const auto below = static_cast<std::size_t>(std::floor(tail * (count + 1)));
  const std::size_t low = below > 0 ? below - 1 : 0;
  return {differences[low], differences[differences.size() - 1 - low]};
}

std::vector<FeatureRange> domain_of(const Rows& examples) {
  std::vector<FeatureRange> domain;
  for (const char* name :
       {"log_flops", "log_bytes", "log_parameters", "log_batch", "workers", "servers",
        "asynchronous", "log_network", "log_device_flops", "log_step", "log_communication"}) {
    const auto feature = feature_named(examples.front()->features, name);
    if (!feature) continue;
    FeatureRange range{*feature, examples.front()->features.values[*feature],
                       examples.front()->features.values[*feature]};
    for (const InspectorExample* one : examples) {
      range.least = std::min(range.least, one->features.values[*feature]);
      range.most = std::max(range.most, one->features.values[*feature]);
    }
    const double margin = 0.1 * (range.most - range.least) + 1e-6;
    range.least -= margin;
    range.most += margin;
    domain.push_back(range);
  }
  return domain;
}

Rows rows_for_training(const std::vector<InspectorExample>& examples,
                       const std::vector<std::string>& settings, std::size_t folds) {
  Rows chosen;
  std::set<std::string> models;
  for (const InspectorExample& one : examples) {
    const bool wanted = settings.empty() || std::find(settings.begin(), settings.end(),
                                                      one.job->setting) != settings.end();
    if (!wanted || one.job->split == "test") continue;
    chosen.push_back(&one);
    models.insert(one.job->model);
  }
  if (models.size() < folds) {
    throw Error(ErrorKind::BadInput, "an inspector needs runs of at least " +
                                         std::to_string(folds) +
                                         " architectures outside of the test split; there are " +
                                         std::to_string(models.size()));
  }
  return chosen;
}

}  // namespace foretrain::train
