// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "foretrain/operators/answer.h"
#include "foretrain/predict/detail/make_report.h"

namespace foretrain {
namespace {

Estimate times(const Estimate& step, double steps) {
  Estimate result = step;
  result.value *= steps;
  if (result.low) *result.low *= steps;
  if (result.high) *result.high *= steps;
  return result;
}

// Hourly price of everything that the job holds, and where it comes from.
std::optional<double> price_per_hour(const Question& question, Report& report) {
  std::vector<std::string>& notes = report.assumptions;
  const Resolved& resolved = question.resolved();
  if (resolved.price_per_device_hour) return *resolved.price_per_device_hour * resolved.workers;
  if (resolved.instance) {
    const hw::Instance& instance = *resolved.instance;
    report.price_of = instance.provider + " " + instance.name;
    notes.push_back("price of " + report.price_of + ", " + instance.price_date);
    const auto nodes = static_cast<int>(resolved.cluster.nodes.size());
    const int idle = nodes * instance.devices - resolved.workers;
    if (idle > 0) {
      notes.push_back("instances are paid whole: " + std::to_string(idle) + " of " +
                      std::to_string(nodes * instance.devices) + " devices stay idle");
    }
    return instance.price_per_hour_usd * nodes;
  }
  double price = 0;
  const std::vector<int> counts = hw::device_counts(resolved.cluster);
  for (std::size_t d = 0; d < counts.size(); ++d) {
    const std::string& device = resolved.cluster.devices[d].name;
    const hw::Instance* instance = hw::cheapest_instance(question.library().catalog, device);
    if (instance == nullptr) return std::nullopt;
    price += counts[d] * hw::price_per_device_hour_usd(*instance);
    const std::string name = instance->provider + " " + instance->name;
    report.price_of += (report.price_of.empty() ? "" : ", ") + name;
    notes.push_back("price of " + device + " as in " + name + ", " + instance->price_date);
  }
  return price;
}

std::optional<double> steps_of(const Length& length, double samples_per_step,
                               double tokens_per_sample, std::optional<double> epoch_steps) {
  if (length.steps) return std::ceil(*length.steps);
  if (length.epochs && epoch_steps) return *length.epochs * *epoch_steps;
  if (length.tokens && tokens_per_sample > 0) {
    return std::ceil(*length.tokens / (tokens_per_sample * samples_per_step));
  }
  return std::nullopt;
}

void add(Estimate& estimate, double seconds) {
  estimate.value += seconds;
  if (estimate.low) *estimate.low += seconds;
  if (estimate.high) *estimate.high += seconds;
}

// The whole job of so many steps, and each end of its interval: a longer step never makes a job
// shorter. `epochs` is 0 where nobody says how long one is.
void report_total(double steps, double epochs, const Resolved& resolved, Report& report) {
  const JobEffects& effects = resolved.effects;
  const auto job_of = [&](double step) {
    return job_time(step * steps, epochs, resolved.startup_s, effects);
  };
  const JobTime job = job_of(report.step_time_s.value);
  Estimate sum = report.step_time_s;
  sum.value = total(job);
  if (sum.low) sum.low = total(job_of(*sum.low));
  if (sum.high) sum.high = total(job_of(*sum.high));
  report.total_time_s = sum;
  if (effects.stated) report.job_time = job;
  if (resolved.startup_s > 0) {
    report.assumptions.push_back("start-up of the job is in the total time, as calibrated");
  }
  if (!effects.mtbf_s) return;
  report.assumptions.push_back("failures come at random, restarts included; the time is the mean");
  if (!effects.checkpoint_every) {
    report.assumptions.push_back("no checkpoints: a failure undoes all work of the job");
  }
}

}  // namespace

void report_length(const Question& question, Report& report) {
  const Resolved& resolved = question.resolved();
  const Length& length = resolved.length;
  const double samples_per_step = static_cast<double>(resolved.batch) * resolved.data_parallel;
  std::optional<double> epoch_steps;
  if (length.samples) {
    epoch_steps = std::ceil(*length.samples / samples_per_step);
    report.epoch_time_s = times(report.step_time_s, *epoch_steps);
    add(*report.epoch_time_s, resolved.effects.evaluate_s);
  }
  const double tokens_per_sample = operators::detail_of(question).tokens_per_sample;
  const std::optional<double> steps =
      steps_of(length, samples_per_step, tokens_per_sample, epoch_steps);
  if (length.tokens && !steps) {
    report.warnings.push_back("'tokens' has no meaning for a model that does not read tokens");
  }
  if (!steps) {
    if (resolved.effects.checkpoint_every || resolved.effects.mtbf_s) {
      report.warnings.push_back(
          "checkpoints and failures count in the total time: give 'epochs', 'steps' or 'tokens'");
    }
    return;
  }
  report_total(*steps, epoch_steps ? *steps / *epoch_steps : 0, resolved, report);
  const bool alone =
      resolved.strategy.kind == Parallel::ParameterServer && resolved.strategy.asynchronous;
  if (alone) report.assumptions.push_back("asynchronous workers share the steps evenly");
  const std::optional<double> price = price_per_hour(question, report);
  if (price) {
    report.cost_usd = times(*report.total_time_s, *price / 3600);
  } else {
    report.assumptions.push_back("no price is known; give price_per_device_hour for the cost");
  }
}

}  // namespace foretrain
