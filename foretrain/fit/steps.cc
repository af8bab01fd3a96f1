// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/steps.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/fit/detail/least_squares.h"
#include "foretrain/fit/detail/search.h"
#include "foretrain/fit/detail/step_clock.h"

namespace foretrain::fit {
namespace {

using cost::Constants;
using Cases = std::vector<std::unique_ptr<StepCase>>;
using Machines = std::map<std::string, Machine>;

// What whole steps decide.
constexpr std::array<std::string_view, 32> kVaried{"host.conv",
                                                   "host.batch_norm",
                                                   "host.linear",
                                                   "host.concat",
                                                   "host.pool",
                                                   "host.other",
                                                   "host.conv_grad",
                                                   "host.batch_norm_grad",
                                                   "host.pointwise_grad",
                                                   "host.accumulate",
                                                   "host.branch",
                                                   "host.other_grad",
                                                   "host.zero",
                                                   "cap.conv",
                                                   "cap.tensor_conv",
                                                   "cap.converted",
                                                   "cap.half_values",
                                                   "bandwidth.conv",
                                                   "bandwidth.conv_nchw",
                                                   "launch.conv",
                                                   "conv.weight_grad",
                                                   "conv.weight_grad_unfused",
                                                   "conv.grouped",
                                                   "conv.depthwise",
                                                   "conv.depthwise_grad",
                                                   "conv.bias",
                                                   "tensor_conv.",
                                                   "memory_bound.batch_norm",
                                                   "memory_bound.batch_norm_grad",
                                                   "memory_bound.batch_norm_own",
                                                   "memory_bound.batch_norm_own_grad",
                                                   "memory_bound.max_pool"};

Cases read_cases(const std::filesystem::path& file, const StepsFit& options,
                 const Library& library) {
  Cases cases;
  evaluate::Observer observer;
  observer.on_case = [&](const evaluate::Case& row) {
    if (row.outcome != evaluate::Outcome::Predicted || row.workers != 1) return;
    if (named_by_any(row.device, options.without) || named_by_any(row.model, options.without))
      return;
    const bool half = row.precision == "fp16" || row.precision == "tf32";
    if (half || row.precision == "fp32") cases.push_back(make_step_case(row, library));
  };
  evaluate::evaluate(file, {}, library, observer);
  if (cases.empty()) {
    throw Error(ErrorKind::NotFound, "no measured step of one worker in '" +
                                         printable(file.string()) + "' is left to fit");
  }
  return cases;
}

using Cell = std::pair<std::string, Precision>;

std::map<Cell, double> rows_of_cells(const Cases& cases) {
  std::map<Cell, double> rows;
  for (const auto& one : cases) rows[{one->device, one->precision}] += 1;
  return rows;
}

// ln(predicted / measured) of each.
std::vector<double> errors(const Cases& cases, const Constants& constants,
                           const Machines& machines) {
  const cost::OperatorModel model = cost::make_operator_model(constants);
  std::vector<double> logs;
  logs.reserve(cases.size());
  for (const auto& one : cases) {
    const double time = step_time(*one, model, machines.at(one->device)).count();
    logs.push_back(std::log(time / one->measured_s));
  }
  return logs;
}

// Mean over devices and precisions of the mean size of the errors.
double mean_size(const std::vector<double>& logs, const Cases& cases) {
  const std::map<Cell, double> rows = rows_of_cells(cases);
  double sum = 0;
  for (std::size_t i = 0; i < logs.size(); ++i)
    sum += std::abs(logs[i]) / rows.at({cases[i]->device, cases[i]->precision});
  return sum / static_cast<double>(rows.size());
}

// Grows as the error does where it is small, as its root beyond `kLarge`, so that squares of these
// count a large error as much as its size.
double tempered(double error) {
  constexpr double kLarge = 0.1;
  const double part = error / kLarge;
  return std::copysign(kLarge * std::sqrt(2 * (std::sqrt(1 + part * part) - 1)), error);
}

// Every device and precision counts alike. A constant that moves by a factor of 1.35 costs as much
// as one step that is 5 % off.
std::vector<double> residuals_of(std::vector<double> logs, const Cases& cases,
                                 const std::vector<Variable>& variables,
                                 const std::vector<double>& values) {
  constexpr double kUsual = 0.3;  // logarithm
  constexpr double kCost = 0.05;
  const std::map<Cell, double> rows = rows_of_cells(cases);
  const double share = static_cast<double>(cases.size()) / static_cast<double>(rows.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double own = rows.at({cases[i]->device, cases[i]->precision});
    logs[i] = std::sqrt(share / own) * tempered(logs[i]);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    logs.push_back(kCost / kUsual * std::log(values[i] / variables[i].start));
  return logs;
}

FittedGroup fit_all(const Cases& cases, const StepsFit& options, Constants& constants,
                    Machines& machines) {
  std::vector<cost::NamedConstant> varied = varied_constants(constants, kVaried, options.vary);
  FittedGroup fitted{"steps", cases.size(), varied.size(), 0, 0};
  for (const auto& one : cases) machines.try_emplace(one->device);
  for (auto& [device, machine] : machines) {
    varied.push_back({"host of " + device, &machine.host});
    varied.push_back({"copy of " + device, &machine.copy});
  }
  const auto now = [&] { return errors(cases, constants, machines); };
  fitted.before = mean_size(now(), cases);
  const std::vector<Variable> variables = variables_of(varied);
  const auto set = [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) *varied[i].value = values[i];
  };
  const int rounds = std::max(1, options.evaluations / (1 + static_cast<int>(varied.size())));
  set(least_squares(variables, rounds, [&](const std::vector<double>& values) {
    set(values);
    return residuals_of(now(), cases, variables, values);
  }));
  fitted.after = mean_size(now(), cases);
  return fitted;
}

// The reference machine is the mean of those that were measured.
void centre_hosts(Constants& constants, Machines& machines) {
  double logs = 0;
  for (const auto& [device, machine] : machines) logs += std::log(machine.host);
  const double mean = std::exp(logs / static_cast<double>(machines.size()));
  for (auto& [device, machine] : machines) machine.host /= mean;
  for (const cost::NamedConstant& constant : cost::named_constants(constants)) {
    if (constant.name.starts_with("host.")) *constant.value /= mean;
  }
}

}  // namespace

FittedSteps fit_steps(const std::filesystem::path& file, const StepsFit& options,
                      const Library& library, Constants& constants) {
  const Cases cases = read_cases(file, options, library);
  FittedSteps fitted;
  fitted.group = fit_all(cases, options, constants, fitted.machines);
  centre_hosts(constants, fitted.machines);
  round_digits(constants);
  return fitted;
}

}  // namespace foretrain::fit
