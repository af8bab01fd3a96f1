// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "foretrain/predict/summarise.h"

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
std::optional<double> price_per_hour(const Stages& stages, const Request& request,
                                     const Library& library, std::vector<std::string>& notes) {
  const Setting& setting = stages.setting;
  if (request.price_per_device_hour) return *request.price_per_device_hour * setting.workers;
  if (setting.instance) {
    notes.push_back("price of " + setting.instance->provider + " " + setting.instance->name + ", " +
                    setting.instance->price_date);
    return setting.instance->price_per_hour_usd * static_cast<double>(setting.cluster.nodes.size());
  }
  double price = 0;
  for (const WorkerClass& worker : stages.job.classes) {
    const std::string& device =
        setting.cluster.devices[static_cast<std::size_t>(worker.device)].name;
    const hw::Instance* instance = hw::cheapest_instance(library.catalog, device);
    if (instance == nullptr) return std::nullopt;
    price += worker.workers * hw::price_per_device_hour_usd(*instance);
    std::string note = "price of " + device + " as in " + instance->provider + " " +
                       instance->name + ", " + instance->price_date;
    notes.push_back(std::move(note));
  }
  return price;
}

std::optional<double> steps_of(const Request& request, double samples_per_step,
                               double tokens_per_sample, std::optional<double> epoch_steps) {
  if (request.steps) return std::ceil(*request.steps);
  if (request.epochs && epoch_steps) return *request.epochs * *epoch_steps;
  if (request.tokens && tokens_per_sample > 0) {
    return std::ceil(*request.tokens / (tokens_per_sample * samples_per_step));
  }
  return std::nullopt;
}

void add(Estimate& estimate, double seconds) {
  estimate.value += seconds;
  if (estimate.low) *estimate.low += seconds;
  if (estimate.high) *estimate.high += seconds;
}

}  // namespace

void report_job(const Stages& stages, const Request& request, const Library& library,
                Report& report) {
  const bool alone =
      request.strategy.kind == Parallel::ParameterServer && request.strategy.asynchronous;
  const double samples_per_step =
      static_cast<double>(stages.setting.batch) * stages.setting.workers;
  std::optional<double> epoch_steps;
  if (stages.setting.samples) {
    epoch_steps = std::ceil(*stages.setting.samples / samples_per_step);
    report.epoch_time_s = times(report.step_time_s, *epoch_steps);
  }
  const std::optional<double> steps =
      steps_of(request, samples_per_step, stages.step->tokens_per_sample, epoch_steps);
  if (request.tokens && !steps) {
    report.warnings.push_back("'tokens' has no meaning for a model that does not read tokens");
  }
  if (!steps) return;
  report.total_time_s = times(report.step_time_s, *steps);
  if (stages.setting.startup_s > 0) {
    add(*report.total_time_s, stages.setting.startup_s);
    report.assumptions.push_back("start-up of the job is in the total time, as calibrated");
  }
  if (alone) report.assumptions.push_back("asynchronous workers share the steps evenly");
  const std::optional<double> price = price_per_hour(stages, request, library, report.assumptions);
  if (price) {
    report.cost_usd = times(*report.total_time_s, *price / 3600);
  } else {
    report.assumptions.push_back("no price is known; give price_per_device_hour for the cost");
  }
}

}  // namespace foretrain
