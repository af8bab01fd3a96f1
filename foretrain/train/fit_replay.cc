// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_replay.h"

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/inspector/replay.h"
#include "foretrain/request/request.h"

namespace foretrain::train {
namespace {

using inspector::Replayed;
using inspector::ReplayOptions;
using resource::Number;
using resource::UseName;

constexpr int kRounds = 2;
constexpr double kLeastGain = 1e-6;  // rounding does not move a number

struct Case {
  const measured::ResourceJob* job = nullptr;
  inspector::StepCurves curves{};
};

std::vector<Case> cases_of(const std::vector<measured::ResourceJob>& jobs,
                           const std::string& setting, const Library& library, int threads) {
  std::vector<Case> cases;
  for (const measured::ResourceJob& job : jobs) {
    if (job.split != "test" && (setting.empty() || job.setting == setting)) cases.push_back({&job});
  }
  if (cases.empty()) {
    throw Error(ErrorKind::BadInput, "no job outside of the test split to learn from");
  }
  parallel_for(cases.size(), threads, [&](std::size_t i) {
    const Request request =
        parse_request(cases[i].job->request, "the request of " + cases[i].job->model);
    const Resolved resolved = resolve(request, library);
    const Question question(resolved, library);
    cases[i].curves =
        inspector::curves_of(operators::stages_of(question), resolved, resource::Role::Worker);
  });
  return cases;
}

double replayed_number(const Replayed& replayed, Number number) {
  if (number == Number::BurstAmount) return replayed.amount;
  return number == Number::BurstTime ? replayed.burst_s : replayed.idle_s;
}

bool is_of_twelve(const UseName& use) {
  return use.role == resource::Role::Worker &&
         (use.number == Number::BurstAmount || use.number == Number::BurstTime ||
          use.number == Number::IdleTime);
}

double error_of(const std::vector<Case>& cases, const ReplayOptions& options, int threads) {
  std::vector<std::array<Replayed, resource::kResources.size()>> replayed(cases.size());
  parallel_for(cases.size(), threads,
               [&](std::size_t i) { replayed[i] = inspector::replay(cases[i].curves, options); });
  double sum = 0;
  double numbers = 0;
  for (const UseName& use : resource::use_names()) {
    if (!is_of_twelve(use)) continue;
    std::vector<double> differences;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto measured = measured::number_of(cases[i].job->median, use);
      const double told = replayed_number(replayed[i][index_of(use.resource)], use.number);
      if (measured && *measured > 0 && told > 0) differences.push_back(std::log(*measured / told));
    }
    if (differences.empty()) continue;
    const double middle = median(differences);
    double of_one = 0;
    for (const double one : differences) of_one += std::abs(one - middle);
    sum += of_one / static_cast<double>(differences.size());
    ++numbers;
  }
  return numbers > 0 ? sum / numbers : 0;
}

// A number that is searched, and where.
struct Search {
  double* value;
  std::vector<double> candidates;
};

ReplayOptions options_of(const inspector::ReplayConstants& constants) {
  ReplayOptions options = inspector::replay_options();
  options.gap = Seconds{constants.steps.gap_s};
  options.jitter = constants.steps.jitter;
  options.operators = constants.activity.operators;
  options.noise = constants.activity.noise;
  return options;
}

}  // namespace

FittedReplay fit_replay(const std::vector<measured::ResourceJob>& jobs, const std::string& setting,
                        const Library& library, int threads) {
  const std::vector<Case> cases = cases_of(jobs, setting, library, threads);
  FittedReplay fitted{.constants = inspector::replay_constants(), .jobs = cases.size()};
  inspector::ReplayConstants& best = fitted.constants;
  const std::vector<Search> searches{
      {&best.activity.noise, {0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4}},
      {&best.activity.operators, {0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4}},
      {&best.steps.jitter, {0.01, 0.02, 0.03, 0.05, 0.08, 0.12}},
      {&best.steps.gap_s, {0.001, 0.002, 0.004, 0.006, 0.01, 0.015}},
  };
  fitted.before = fitted.after = error_of(cases, options_of(best), threads);
  for (int round = 0; round < kRounds; ++round) {
    for (const Search& search : searches) {
      double chosen = *search.value;
      for (const double candidate : search.candidates) {
        *search.value = candidate;
        const double error = error_of(cases, options_of(best), threads);
        if (error >= fitted.after - kLeastGain) continue;
        fitted.after = error;
        chosen = candidate;
      }
      *search.value = chosen;
    }
  }
  return fitted;
}

}  // namespace foretrain::train
