// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/operator_factors.h"

#include <cmath>

#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/fit/calibration.h"
#include "foretrain/fit/detail/minimise.h"

namespace foretrain::fit {
namespace {

constexpr double kMost = 20;     // no machine is so much faster or slower than its datasheet
constexpr double kPrior = 0.01;  // of a factor e: 1 % of all operators' logarithms
constexpr int kEvaluations = 300;

double mean_error(const measured::OperatorCases& cases, const Calibration& calibration,
                  const cost::OperatorModel& model, const hw::Catalog& catalog) {
  evaluate::OperatorClock clock(catalog, model, {&calibration, 1});
  double sum = 0;
  double weight = 0;
  for (const auto& one : cases) {
    sum += one->measured_s * std::abs(std::log(clock.time_s(*one) / one->measured_s));
    weight += one->measured_s;
  }
  return sum / weight;
}

}  // namespace

OperatorFactors factors_by_operators(const measured::OperatorCases& cases, const hw::Device& device,
                                     const cost::OperatorModel& model, const hw::Catalog& catalog) {
  const bool cpu = hw::is_cpu(device);
  OperatorFactors found;
  Calibration& best = found.calibration;
  best.device = calibrated_kind(device);
  std::vector<double*> places{&best.compute, &best.memory};
  if (cpu) places.push_back(&best.host);
  found.before = mean_error(cases, best, model, catalog);
  const std::vector<Variable> variables(places.size(), {1, 1 / kMost, kMost});
  minimise_in_place(places, variables, kEvaluations, [&](const std::vector<double>& values) {
    return mean_error(cases, best, model, catalog) + kPrior * squared_moves(variables, values);
  });
  found.after = mean_error(cases, best, model, catalog);
  return found;
}

}  // namespace foretrain::fit
