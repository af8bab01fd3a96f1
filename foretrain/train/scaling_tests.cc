// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/scaling_tests.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace foretrain::train {
namespace {

constexpr const char* kInterpolation = "interpolation";
constexpr const char* kTogether = "together";
constexpr std::size_t kLeastValues = 4;
constexpr std::size_t kLeastTrain = 8;

struct Planned {
  const MeasuredWorkload* workload = nullptr;
  std::string kind{};
  std::string variable{};
  std::vector<std::size_t> variables{};
  Division division{};
};

std::vector<std::size_t> testable(const ScalingRows& rows, std::size_t variables) {
  std::vector<std::size_t> result;
  for (std::size_t v = 0; v < variables; ++v) {
    std::set<double> values;
    for (const ScalingRow& row : rows) values.insert(row.values[v]);
    if (values.size() >= kLeastValues) result.push_back(v);
  }
  return result;
}

void plan(const MeasuredWorkload& workload, const ScalingData& data, const std::string& kind,
          std::vector<Planned>& planned) {
  const std::vector<std::size_t> variables = testable(workload.rows, data.variables.size());
  std::vector<std::vector<bool>> left_out;
  const auto add = [&](const std::string& name, std::vector<std::size_t> of, Division division) {
    if (division.test.empty() || division.train.size() < kLeastTrain) return;
    planned.push_back({&workload, kind, name, std::move(of), std::move(division)});
  };
  for (const std::size_t v : variables) {
    left_out.push_back(kind == kInterpolation ? in_between(workload.rows, v)
                                              : at_the_end(workload.rows, v));
    add(data.variables[v], {v}, leave_out({left_out.back()}));
  }
  if (variables.size() > 1) add(kTogether, variables, leave_out(left_out));
}

std::size_t count_inside(const std::vector<Judged>& judged, const ConformalEnds& ends) {
  return static_cast<std::size_t>(
      std::count_if(judged.begin(), judged.end(), [&](const Judged& one) {
        const double residual = std::log(one.measured_s / one.predicted_s);
        return residual >= std::min(ends.low, 0.0) && residual <= std::max(ends.high, 0.0);
      }));
}

ScalingTest run(const Planned& one, const ScalingData& data, const ScalingFit& options) {
  ScalingRows train;
  for (const std::size_t i : one.division.train) train.push_back(one.workload->rows[i]);
  const std::vector<std::size_t> goes_beyond =
      one.kind == kInterpolation ? std::vector<std::size_t>{} : one.variables;
  const Trials trials = trials_for(train, data.variables.size(), goes_beyond, options);
  ScalingTest test{.workload = one.workload->name,
                   .kind = one.kind,
                   .variable = one.variable,
                   .train = train.size(),
                   .test = one.division.test.size()};
  test.methods = compare_methods(train, data.variables, data.with_operators, trials.all, options);
  for (MethodScore& score : test.methods) {
    const bool best = &score == &test.methods.front();
    const std::vector<Judged> judged =
        judge(one.workload->rows, data.variables, data.with_operators, one.division, score.setting,
              options.seed);
    score.error = mean_error(judged);
    if (!best) continue;
    test.chosen = score;
    for (const Judged& row : judged) test.predicted_s.push_back(row.predicted_s);
    const auto ends =
        interval_of(train, data.variables, data.with_operators, trials, score.setting, options);
    if (ends) test.inside = count_inside(judged, *ends);
  }
  for (const std::size_t i : one.division.test) test.rows.push_back(one.workload->rows[i]);
  return test;
}

}  // namespace

std::vector<ScalingTest> test_scaling(const ScalingData& data, const ScalingFit& options,
                                      const std::function<void(double)>& progress) {
  std::vector<Planned> planned;
  for (const char* kind : {kInterpolation, "extrapolation"}) {
    for (const MeasuredWorkload& workload : data.workloads) plan(workload, data, kind, planned);
  }
  std::vector<ScalingTest> tests;
  for (const Planned& one : planned) {
    tests.push_back(run(one, data, options));
    if (progress) {
      progress(static_cast<double>(tests.size()) / static_cast<double>(planned.size()));
    }
  }
  return tests;
}

std::vector<ScalingSummary> summarise(const std::vector<ScalingTest>& tests) {
  std::vector<ScalingSummary> summaries;
  for (const ScalingTest& test : tests) {
    auto known = std::find_if(summaries.begin(), summaries.end(), [&](const ScalingSummary& one) {
      return one.kind == test.kind && one.variable == test.variable;
    });
    if (known == summaries.end()) {
      summaries.push_back({.kind = test.kind, .variable = test.variable});
      for (const MethodScore& one : test.methods) {
        summaries.back().methods.emplace_back(one.setting.method, 0);
      }
      std::sort(summaries.back().methods.begin(), summaries.back().methods.end());
      known = std::prev(summaries.end());
    }
    ++known->tests;
    known->chosen += test.chosen.error;
    if (test.inside) {
      known->judged += test.test;
      known->inside += *test.inside;
    }
    known->worst = std::max(known->worst, test.chosen.error);
    for (const MethodScore& one : test.methods) {
      for (auto& [method, error] : known->methods) {
        if (method == one.setting.method) error += one.error;
      }
    }
  }
  for (ScalingSummary& one : summaries) {
    one.chosen /= static_cast<double>(one.tests);
    for (auto& [method, error] : one.methods) error /= static_cast<double>(one.tests);
  }
  return summaries;
}

}  // namespace foretrain::train
