// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/detail/inspector_rows.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/train/conformal.h"

namespace foretrain::train {
namespace {

std::vector<std::string> models_of(const Rows& rows) {
  std::vector<std::string> models;
  for (const InspectorExample* row : rows) {
    if (std::find(models.begin(), models.end(), row->job->model) == models.end()) {
      models.push_back(row->job->model);
    }
  }
  return models;
}

std::size_t count_jobs(const Rows& rows) {
  std::set<const measured::ResourceJob*> jobs;
  for (const InspectorExample* row : rows) jobs.insert(row->job);
  return jobs.size();
}

// Rows of the first models until there are so many jobs; a job keeps all its roles.
Rows first_jobs(const Rows& rows, const std::vector<std::string>& models, std::size_t wanted) {
  std::set<const measured::ResourceJob*> jobs;
  for (const std::string& model : models) {
    for (const InspectorExample* row : rows) {
      if (row->job->model == model && jobs.size() < wanted) jobs.insert(row->job);
    }
  }
  Rows taken;
  for (const InspectorExample* row : rows) {
    if (jobs.contains(row->job)) taken.push_back(row);
  }
  return taken;
}

}  // namespace

std::optional<std::size_t> feature_named(const inspector::Features& features,
                                         std::string_view name) {
  const auto found = std::find(features.names.begin(), features.names.end(), name);
  if (found == features.names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - features.names.begin());
}

std::optional<double> measured_target(const InspectorExample& example, std::string_view name) {
  const measured::RunUse& median = example.job->median;
  std::optional<double> value;
  if (name == inspector::kStepTime) {
    if (example.role == resource::Role::Worker) value = median.step_time_s;
  } else if (name == resource::memory_used_name(example.role)) {
    const auto& role = median.roles[index_of(example.role)];
    if (role) value = role->memory_used;
  } else {
    for (const resource::UseName& use : resource::use_names()) {
      if (use.name == name && use.role == example.role) value = measured::number_of(median, use);
    }
  }
  return value && *value > 0 ? value : std::nullopt;
}

Rows draw(const Rows& rows, const Share& share, std::size_t least, UsedShare& used) {
  std::vector<std::string> models = models_of(rows);
  used.all_architectures = models.size();
  used.all_jobs = count_jobs(rows);
  std::mt19937_64 generator(share.seed);
  for (std::size_t i = models.size(); i > 1; --i) std::swap(models[i - 1], models[generator() % i]);
  if (!share.jobs) {
    const auto wanted = std::llround(share.fraction * static_cast<double>(models.size()));
    models.resize(std::clamp(static_cast<std::size_t>(std::max(0LL, wanted)),
                             std::min(least, models.size()), models.size()));
  }
  Rows drawn = first_jobs(rows, models, share.jobs.value_or(used.all_jobs));
  used.architectures = models_of(drawn).size();
  used.jobs = count_jobs(drawn);
  if (used.architectures < least) {
    throw Error(ErrorKind::BadInput, "the " + std::to_string(used.jobs) + " jobs drawn are of " +
                                         std::to_string(used.architectures) +
                                         " architectures; at least " + std::to_string(least) +
                                         " are needed: give more jobs or fewer folds");
  }
  return drawn;
}

std::map<std::string, std::size_t> folds_of(const Rows& examples, std::size_t folds) {
  std::map<std::string, std::size_t> fold;
  for (const InspectorExample* one : examples) fold.emplace(one->job->model, fold.size() % folds);
  return fold;
}

std::pair<double, double> interval_ends(const std::vector<double>& differences, double confidence) {
  if (const auto ends = conformal_ends(differences, confidence)) return {ends->low, ends->high};
  const auto [low, high] = std::minmax_element(differences.begin(), differences.end());
  return {*low, *high};
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
