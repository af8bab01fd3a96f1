// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/resources.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "foretrain/base/median.h"
#include "foretrain/evaluate/detail/metrics.h"

namespace foretrain::evaluate {
namespace {

using resource::Number;
using resource::UseName;

// One run against the median of the others, for every run.
void add_floor(const ResourceCase& one, std::vector<double>& errors) {
  for (std::size_t i = 0; i < one.repeats.size() && one.repeats.size() > 1; ++i) {
    std::vector<double> others = one.repeats;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double middle = median(std::move(others));
    if (middle > 0) errors.push_back(one.repeats[i] / middle - 1);
  }
}

// What the scores of one resource are means of.
struct Sums {
  std::size_t jobs = 0;
  std::size_t missing = 0;
  std::vector<double> errors;  // of the paper's numbers
  std::array<std::vector<double>, resource::kNumbers.size()> of_number;
  std::array<double, resource::kNumbers.size()> squares{};
  std::array<double, resource::kNumbers.size()> largest{};
  std::vector<double> floor;
  double log_squares = 0;
  std::size_t logs = 0;
  std::size_t with_interval = 0;
  std::size_t inside = 0;
};

bool in_paper(Number number) {
  return number == Number::BurstAmount || number == Number::BurstTime || number == Number::IdleTime;
}

void add(const ResourceCase& one, const UseName& use, Sums& sums) {
  const std::size_t number = index_of(use.number);
  const double error = one.predicted ? *one.predicted / one.measured - 1 : -1;
  sums.of_number[number].push_back(error);
  if (one.low && one.high) {
    ++sums.with_interval;
    sums.inside += *one.low <= one.measured && one.measured <= *one.high ? 1 : 0;
  }
  if (!in_paper(use.number)) return;
  if (use.number == Number::BurstAmount) ++sums.jobs;
  if (!one.predicted) ++sums.missing;
  sums.errors.push_back(error);
  sums.squares[number] += std::pow(one.predicted.value_or(0) - one.measured, 2);
  sums.largest[number] = std::max(sums.largest[number], one.measured);
  add_floor(one, sums.floor);
  if (one.predicted && *one.predicted > 0) {
    sums.log_squares += std::pow(std::log(*one.predicted / one.measured), 2);
    ++sums.logs;
  }
}

double nrmse(const Sums& sums) {
  double total = 0;
  int numbers = 0;
  for (const Number number : resource::kNumbers) {
    const std::size_t i = index_of(number);
    if (!in_paper(number) || sums.of_number[i].empty()) continue;
    const auto count = static_cast<double>(sums.of_number[i].size());
    total += std::sqrt(sums.squares[i] / count) / sums.largest[i];
    ++numbers;
  }
  return numbers > 0 ? total / numbers : 0;
}

ResourceScore score_of(const std::string& setting, const UseName& use, const Sums& sums) {
  ResourceScore score{.setting = setting, .role = use.role, .resource = use.resource};
  score.jobs = sums.jobs;
  score.missing = sums.missing;
  score.mean = mape(sums.errors);
  score.median = median_ape(sums.errors);
  for (std::size_t i = 0; i < sums.of_number.size(); ++i) {
    score.of_number[i] = mape(sums.of_number[i]);
  }
  if (!sums.floor.empty()) {
    score.floor_mean = mape(sums.floor);
    score.floor_median = median_ape(sums.floor);
  }
  if (sums.logs > 0) score.log_rmse = std::sqrt(sums.log_squares / static_cast<double>(sums.logs));
  score.nrmse = nrmse(sums);
  if (sums.with_interval > 0) {
    score.coverage = static_cast<double>(sums.inside) / static_cast<double>(sums.with_interval);
  }
  return score;
}

}  // namespace

std::vector<ResourceScore> score_resources(const std::vector<ResourceCase>& cases) {
  using Key = std::tuple<std::size_t, resource::Role, resource::Resource>;
  std::vector<std::string> settings;
  std::map<Key, std::pair<const ResourceCase*, Sums>> groups;
  for (const ResourceCase& one : cases) {
    if (!one.use) continue;
    const auto known = std::find(settings.begin(), settings.end(), one.setting);
    const auto place = static_cast<std::size_t>(known - settings.begin());
    if (known == settings.end()) settings.push_back(one.setting);
    auto& [first, sums] = groups[{place, one.use->role, one.use->resource}];
    if (first == nullptr) first = &one;
    add(one, *one.use, sums);
  }
  std::vector<ResourceScore> scores;
  for (const auto& [key, group] : groups) {
    scores.push_back(score_of(group.first->setting, *group.first->use, group.second));
  }
  return scores;
}

std::vector<NumberScore> score_numbers(const std::vector<ResourceCase>& cases) {
  std::vector<NumberScore> scores;
  std::vector<Sums> sums;
  for (const ResourceCase& one : cases) {
    if (one.use) continue;
    const auto known = std::find_if(scores.begin(), scores.end(), [&](const NumberScore& score) {
      return score.setting == one.setting && score.number == one.number;
    });
    const auto place = static_cast<std::size_t>(known - scores.begin());
    if (known == scores.end()) {
      scores.push_back({.setting = one.setting, .number = one.number});
      sums.emplace_back();
    }
    // Counted as the one number of a resource would be.
    add(one, {.number = Number::BurstAmount}, sums[place]);
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const ResourceScore score = score_of(scores[i].setting, {}, sums[i]);
    scores[i].jobs = score.jobs;
    scores[i].missing = score.missing;
    scores[i].mean = score.mean;
    scores[i].median = score.median;
    scores[i].floor_mean = score.floor_mean;
    scores[i].floor_median = score.floor_median;
    scores[i].log_rmse = score.log_rmse;
    scores[i].coverage = score.coverage;
  }
  return scores;
}

}  // namespace foretrain::evaluate
