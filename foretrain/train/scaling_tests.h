// SPDX-License-Identifier: Apache-2.0
// How well methods interpolate and extrapolate: values of variables left out between others, or all
// above a threshold, in one variable and in several together.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/train/fit_scaling.h"

namespace foretrain::train {

struct ScalingTest {
  std::string workload{};
  std::string kind{};      // "interpolation", "extrapolation"
  std::string variable{};  // or "together"
  std::size_t train = 0;   // rows
  std::size_t test = 0;
  MethodScore chosen{};                 // by the training rows alone; the error is of the test rows
  std::vector<MethodScore> methods{};   // each with the setting that the training rows show best
  std::vector<double> predicted_s{};    // by what was chosen, of the test rows
  std::vector<ScalingRow> rows{};       // that were tested
  std::optional<std::size_t> inside{};  // of these: in the interval; absent without one
};

// What is chosen for interpolation is chosen by folds of the training rows, for extrapolation by
// the highest values that these have, of the same variables. Test rows are looked at once, at the
// end. Variables of fewer than four values are not tested. `progress` is told the share that is
// done.
std::vector<ScalingTest> test_scaling(const ScalingData& data, const ScalingFit& options,
                                      const std::function<void(double)>& progress = {});

// The mean over workloads of each kind and variable, in the order in which they come.
struct ScalingSummary {
  std::string kind{};
  std::string variable{};
  std::size_t tests = 0;
  double chosen = 0;
  double worst = 0;        // of the chosen ones
  std::size_t judged = 0;  // rows of tests with an interval, and those of them inside
  std::size_t inside = 0;
  std::vector<std::pair<Method, double>> methods{};
};
std::vector<ScalingSummary> summarise(const std::vector<ScalingTest>& tests);

}  // namespace foretrain::train
