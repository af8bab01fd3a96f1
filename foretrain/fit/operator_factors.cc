// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/operator_factors.h"

#include <cmath>

#include "foretrain/tune/minimise.h"

namespace foretrain::fit {
namespace {

constexpr double kMost = 20;     // no machine is so much faster or slower than its datasheet
constexpr double kPrior = 0.01;  // of a factor e: 1 % of all operators' logarithms
constexpr int kEvaluations = 300;

double mean_error(const evaluate::OperatorCases& cases, const Calibration& calibration,
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

OperatorFactors factors_by_operators(const evaluate::OperatorCases& cases, const hw::Device& device,
                                     const cost::OperatorModel& model, const hw::Catalog& catalog) {
  const bool cpu = hw::is_cpu(device);
  OperatorFactors found;
  Calibration& best = found.calibration;
  best.device = cpu ? "cpu" : device.name;
  std::vector<double*> places{&best.compute, &best.memory};
  if (cpu) places.push_back(&best.host);
  const auto set = [&places](const std::vector<double>& values) {
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = values[i];
  };
  found.before = mean_error(cases, best, model, catalog);
  const std::vector<tune::Variable> variables(places.size(), {1, 1 / kMost, kMost});
  set(tune::minimise(variables, kEvaluations, [&](const std::vector<double>& values) {
    set(values);
    double moved = 0;
    for (const double value : values) moved += std::pow(std::log(value), 2);
    return mean_error(cases, best, model, catalog) + kPrior * moved;
  }));
  found.after = mean_error(cases, best, model, catalog);
  return found;
}

}  // namespace foretrain::fit
