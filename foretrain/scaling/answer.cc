// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/answer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "foretrain/operators/answer.h"
#include "foretrain/scaling/values.h"

namespace foretrain::scaling {
namespace {

constexpr double kLongest = 1e15;  // seconds; a time beyond is no answer
constexpr std::string_view kWhy = "from measured runs of this workload; hosts and links as there";
constexpr std::string_view kOperatorsWhy =
    "the operator engine's time, corrected by measured runs of this workload; hosts and links as "
    "there";

// A name with or without parameters, where the workload's own has none.
bool is_named(const std::string& name, const std::string& wanted) {
  if (wanted.empty() || name == wanted) return true;
  return wanted.find(':') == std::string::npos && name.starts_with(wanted + ":");
}

bool is_of(const ScalingWorkload& workload, const Resolved& resolved) {
  const std::string& device = resolved.cluster.devices.front().name;
  const bool whole_models = resolved.data_parallel == resolved.workers;  // on every worker
  return resolved.mode == Mode::Train && whole_models &&
         is_named(resolved.model.name(), workload.model) && is_named(device, workload.device) &&
         (workload.precision.empty() || workload.precision == to_string(resolved.precision)) &&
         (workload.framework.empty() || workload.framework == resolved.framework->name);
}

// A workload that is named exactly comes before one that takes any model.
const ScalingWorkload* find_workload(const ScalingModel& model, const Resolved& resolved) {
  const ScalingWorkload* found = nullptr;
  for (const ScalingWorkload& one : model.workloads) {
    if (!is_of(one, resolved)) continue;
    if (found == nullptr || one.model.size() > found->model.size()) found = &one;
  }
  return found;
}

// Of the operator engine, for the same steps.
double operators_s(const Question& question, double steps) {
  return operators::detail_of(question).step.value * steps;
}

// The step's share of a time of so many steps; what a job takes before its first step is not in it.
Estimate of_step(const ScalingWorkload& workload, double time, double steps, double startup_s,
                 double confidence) {
  const auto step = [&](double factor) {
    return std::max(time * std::exp(factor) - startup_s, 1e-9) / steps;
  };
  Estimate estimate{.value = step(0), .low = {}, .high = {}, .confidence = {}};
  if (!workload.low) return estimate;
  estimate.low = step(std::min(*workload.low, 0.0));
  estimate.high = step(std::max(*workload.high, 0.0));
  estimate.confidence = confidence;
  return estimate;
}

}  // namespace

std::optional<Answer> ScalingEngine::answer(const Question& question) const {
  const Resolved& resolved = question.resolved();
  if (!resolved.scaling) return std::nullopt;
  const ScalingModel& model = *resolved.scaling;
  const ScalingWorkload* workload = find_workload(model, resolved);
  const std::optional<double> steps = steps_in(model.time, resolved);
  if (workload == nullptr || !steps) return std::nullopt;
  std::vector<double> values;
  for (const std::string& variable : model.variables) {
    const std::optional<double> value = value_of(variable, resolved, model.time);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  const bool inside = is_inside(*workload, values);
  if (model.with_operators) values.push_back(operators_s(question, *steps));
  const double time = time_s(workload->form, values);
  if (time > kLongest) return std::nullopt;
  const double startup_s = model.time == TimeOf::Total ? resolved.startup_s : 0;
  const Estimate step = of_step(*workload, time, *steps, startup_s, model.confidence);
  const std::string_view why = model.with_operators ? kOperatorsWhy : kWhy;
  return Answer{name(), {{"step_time_s", step, inside, why}}};
}

}  // namespace foretrain::scaling
