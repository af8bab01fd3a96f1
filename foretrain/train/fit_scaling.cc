// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/train/conformal.h"
#include "foretrain/train/scaling_features.h"

namespace foretrain::train {
namespace {

constexpr std::size_t kLeastRuns = 4;

BoostData examples_of(const ScalingRows& rows, const ScalingForm& form, Method method) {
  BoostData data;
  for (const ScalingRow& row : rows) {
    data.features.push_back(learn::evaluate(form.map, row.values));
    const double ratio = form.on_operators ? row.time_s / row.values.back() : row.time_s;
    data.targets.push_back(form.log_time ? std::log(ratio) : row.time_s);
    // Ernest's squares are of seconds, as published; else errors count by their share of the time.
    const bool relative = !form.log_time && method != Method::Ernest;
    data.weights.push_back(relative ? 1 / (row.time_s * row.time_s) : 1);
  }
  return data;
}

ScalingRows rows_of(const ScalingRows& rows, const std::vector<std::size_t>& which) {
  ScalingRows result;
  for (const std::size_t i : which) result.push_back(rows[i]);
  return result;
}

std::vector<Method> wanted(const ScalingFit& options) {
  if (!options.methods.empty()) return options.methods;
  return {all_methods().begin(), all_methods().end()};
}

void check_rows(const MeasuredWorkload& workload, std::size_t variables) {
  std::set<std::vector<double>> different;
  for (const ScalingRow& row : workload.rows) {
    different.insert(
        {row.values.begin(), row.values.begin() + static_cast<std::ptrdiff_t>(variables)});
  }
  if (different.size() >= kLeastRuns) return;
  throw Error(ErrorKind::BadInput, "'" + printable(workload.name) + "' has " +
                                       std::to_string(different.size()) +
                                       " different runs; how it scales needs " +
                                       std::to_string(kLeastRuns) + " or more");
}

// How far beyond the measured values a form answers: as far as asked, and not farther than the
// ends that were left out let it be tried.
std::vector<ScalingRange> domain_of(const ScalingRows& rows, std::size_t variables, double reach) {
  std::vector<ScalingRange> domain;
  for (std::size_t v = 0; v < variables; ++v) {
    const std::vector<double> values = values_of(rows, v);
    const double beyond = std::min(reach, tried_beyond(values));
    domain.push_back({values.front() / beyond, values.back() * beyond});
  }
  return domain;
}

ScalingWorkload fit_workload(const MeasuredWorkload& measured, const ScalingData& data,
                             const ScalingFit& options, FittedWorkload& found) {
  const std::size_t variables = data.variables.size();
  check_rows(measured, variables);
  std::vector<std::size_t> goes_beyond;
  if (options.reach > 1) {
    goes_beyond.resize(variables);
    std::iota(goes_beyond.begin(), goes_beyond.end(), 0);
  }
  const Trials trials = trials_for(measured.rows, variables, goes_beyond, options);
  found.name = measured.name;
  found.methods =
      compare_methods(measured.rows, data.variables, data.with_operators, trials.all, options);
  const MethodScore& best = found.methods.front();
  ScalingWorkload workload = measured.shared;
  workload.method = text_of(best.setting);
  workload.error = best.error;
  workload.rows = measured.rows.size();
  workload.form =
      fit_form(measured.rows, data.variables, data.with_operators, best.setting, options.seed);
  workload.domain = domain_of(measured.rows, variables, options.reach);
  if (const auto ends = interval_of(measured.rows, data.variables, data.with_operators, trials,
                                    best.setting, options)) {
    workload.low = ends->low;
    workload.high = ends->high;
  }
  return workload;
}

}  // namespace

Trials trials_for(const ScalingRows& rows, std::size_t variables,
                  const std::vector<std::size_t>& goes_beyond, const ScalingFit& options) {
  Trials trials{by_folds(folds_of(rows, variables, options.folds, options.seed)), {}};
  if (!goes_beyond.empty()) trials.hardest = by_ends(rows, goes_beyond);
  trials.goes_beyond = !trials.hardest.empty();
  if (!trials.goes_beyond) {
    trials.hardest = trials.all;
  } else {
    for (Division& fold : trials.all) fold.weight /= static_cast<double>(trials.all.size());
    trials.all.insert(trials.all.end(), trials.hardest.begin(), trials.hardest.end());
  }
  return trials;
}

std::optional<ConformalEnds> interval_of(const ScalingRows& rows,
                                         const std::vector<std::string>& variables,
                                         bool with_operators, const Trials& trials,
                                         const Setting& setting, const ScalingFit& options) {
  std::vector<double> all;
  std::vector<ConformalEnds> of_each;
  for (const Division& division : trials.hardest) {
    std::vector<double> residuals;
    for (const Judged& one :
         judge(rows, variables, with_operators, division, setting, options.seed)) {
      residuals.push_back(std::log(one.measured_s / one.predicted_s));
    }
    all.insert(all.end(), residuals.begin(), residuals.end());
    const auto [least, greatest] = std::minmax_element(residuals.begin(), residuals.end());
    const ConformalEnds extremes{*least, *greatest};
    of_each.push_back(conformal_ends(std::move(residuals), options.confidence).value_or(extremes));
  }
  std::optional<ConformalEnds> ends = conformal_ends(std::move(all), options.confidence);
  if (!ends || !trials.goes_beyond) return ends;
  for (const ConformalEnds& one : of_each) {
    ends->low = std::min(ends->low, one.low);
    ends->high = std::max(ends->high, one.high);
  }
  return ends;
}

ScalingForm fit_form(const ScalingRows& rows, const std::vector<std::string>& variables,
                     bool with_operators, const Setting& setting, std::uint64_t seed) {
  constexpr std::size_t kInnerFolds = 4;
  ScalingForm form;
  form.map = features_for(rows, variables, with_operators, setting);
  form.log_time = !is_of_plain_time(setting.method);
  form.on_operators = with_operators && form.log_time;
  const std::vector<std::size_t> fold = folds_of(rows, variables.size(), kInnerFolds, seed);
  form.regressor = fit_regressor(examples_of(rows, form, setting.method), setting, fold, seed);
  return form;
}

std::vector<Judged> judge(const ScalingRows& rows, const std::vector<std::string>& variables,
                          bool with_operators, const Division& division, const Setting& setting,
                          std::uint64_t seed) {
  const ScalingForm form =
      fit_form(rows_of(rows, division.train), variables, with_operators, setting, seed);
  std::vector<Judged> judged;
  for (const std::size_t i : division.test) {
    judged.push_back({time_s(form, rows[i].values), rows[i].time_s});
  }
  return judged;
}

double mean_error(const std::vector<Judged>& judged) {
  double sum = 0;
  for (const Judged& one : judged) sum += std::abs(one.predicted_s / one.measured_s - 1);
  return sum / static_cast<double>(judged.size());
}

std::vector<MethodScore> compare_methods(const ScalingRows& rows,
                                         const std::vector<std::string>& variables,
                                         bool with_operators,
                                         const std::vector<Division>& divisions,
                                         const ScalingFit& options) {
  const std::vector<Method> methods = wanted(options);
  std::vector<MethodScore> best(methods.size());
  parallel_for(methods.size(), options.threads, [&](std::size_t i) {
    const TunedSetting tuned =
        tune(methods[i], options.tuning, options.seed, [&](const Setting& setting) {
          double error = 0;
          double weight = 0;
          for (const Division& division : divisions) {
            error += division.weight * mean_error(judge(rows, variables, with_operators, division,
                                                        setting, options.seed));
            weight += division.weight;
          }
          error /= weight;
          return std::isfinite(error) ? error : std::numeric_limits<double>::max();
        });
    best[i] = {tuned.setting, tuned.error};
  });
  std::stable_sort(best.begin(), best.end(),
                   [](const MethodScore& a, const MethodScore& b) { return a.error < b.error; });
  return best;
}

ScalingModel fit_scaling(const ScalingData& data, const ScalingFit& options,
                         const std::function<void(const FittedWorkload&)>& found) {
  ScalingModel model{.time = data.time,
                     .variables = data.variables,
                     .with_operators = data.with_operators,
                     .confidence = options.confidence};
  for (const MeasuredWorkload& one : data.workloads) {
    FittedWorkload fitted;
    model.workloads.push_back(fit_workload(one, data, options, fitted));
    if (found) found(fitted);
  }
  return model;
}

}  // namespace foretrain::train
