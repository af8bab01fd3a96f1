// SPDX-License-Identifier: Apache-2.0
// Measured numbers of jobs beside their predictions.
#include <algorithm>
#include <mutex>

#include "foretrain/base/error.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/evaluate/resources.h"
#include "foretrain/measured/resource_runs.h"
#include "foretrain/predict/predict.h"

namespace foretrain::evaluate {
namespace {

using measured::ResourceJob;
using resource::Number;
using resource::UseName;

// A number of the report, where the resource is predicted to alternate.
struct Predicted {
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
};

Predicted number_of(const ResourcesReport& report, const UseName& use) {
  const bool server = use.role == resource::Role::Server;
  if (server && !report.server) return {};
  const auto& found = use_of(server ? *report.server : report.worker, use.resource);
  if (!found || found->bursts.pattern != resource::Pattern::BIB) return {};
  const resource::Bursts& bursts = found->bursts;
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? std::optional(time->count()) : std::nullopt;
  };
  const std::array<std::optional<double>, resource::kNumbers.size()> numbers{
      bursts.burst_amount, bursts.idle_amount, seconds(bursts.burst), seconds(bursts.idle),
      bursts.burst_share};
  Predicted predicted{numbers[index_of(use.number)], {}, {}};
  if (const auto& estimate = found->estimates[index_of(use.number)]) {
    predicted.low = estimate->low;
    predicted.high = estimate->high;
  }
  return predicted;
}

std::string engine_of(const Report& report, std::string_view number) {
  for (const EngineReport& one : report.engines) {
    if (one.number == number) return one.engine;
  }
  return report.engine;
}

// A number of a run that is none of a resource's alternation: how it is measured and predicted.
struct OtherNumber {
  std::string name;
  std::function<std::optional<double>(const measured::RunUse&)> measured;
  Predicted predicted;
};

OtherNumber step_of(const Report& report) {
  return {"step_time_s",
          [](const measured::RunUse& run) { return run.step_time_s; },
          {report.step_time_s.value, report.step_time_s.low, report.step_time_s.high}};
}

OtherNumber memory_of(const ResourcesReport& report, resource::Role role) {
  OtherNumber number{std::string(resource::memory_used_name(role)), {}, {}};
  number.measured = [role](const measured::RunUse& run) -> std::optional<double> {
    const auto& use = run.roles[index_of(role)];
    return use ? use->memory_used : std::nullopt;
  };
  const bool server = role == resource::Role::Server;
  if (server && !report.server) return number;
  const auto& told = (server ? *report.server : report.worker).memory_used;
  if (!told) return number;
  const bool burst = told->bursts.burst_amount.has_value();
  number.predicted.value = burst ? told->bursts.burst_amount : told->bursts.idle_amount;
  const Number which = burst ? Number::BurstAmount : Number::IdleAmount;
  if (const auto& estimate = told->estimates[index_of(which)]) {
    number.predicted.low = estimate->low;
    number.predicted.high = estimate->high;
  }
  return number;
}

// Burst time per step: it does not flicker where two bursts merge into one or not.
OtherNumber burst_per_step(const Report& report, const UseName& use) {
  OtherNumber number{std::string(name_of(use.role)) + "." + std::string(name_of(use.resource)) +
                         ".burst_per_step_s",
                     {},
                     {}};
  number.measured = [use](const measured::RunUse& run) -> std::optional<double> {
    const std::optional<double> share = measured::number_of(run, use);
    return share ? std::optional(*share * run.step_time_s) : std::nullopt;
  };
  const Predicted share = number_of(report.resources, use);
  if (share.value) number.predicted.value = *share.value * report.step_time_s.value;
  return number;
}

std::vector<OtherNumber> other_numbers(const Report& report) {
  std::vector<OtherNumber> numbers{step_of(report)};
  for (const resource::Role role : resource::kRoles) {
    numbers.push_back(memory_of(report.resources, role));
  }
  for (const UseName& use : resource::use_names()) {
    if (use.number == Number::BurstShare) numbers.push_back(burst_per_step(report, use));
  }
  return numbers;
}

// Of the median run, and of every run; nothing where the number was not measured.
template <typename Measured>
std::optional<ResourceCase> case_of(const ResourceJob& job, const Measured& measured,
                                    const Predicted& predicted) {
  const std::optional<double> median = measured(job.median);
  if (!median || !(*median > 0)) return std::nullopt;
  ResourceCase one{.setting = job.setting, .split = job.split, .model = job.model};
  one.measured = *median;
  for (const measured::RunUse& run : job.repeats) {
    if (const std::optional<double> value = measured(run)) one.repeats.push_back(*value);
  }
  one.predicted = predicted.value;
  one.low = predicted.low;
  one.high = predicted.high;
  one.request = job.request;
  return one;
}

std::vector<ResourceCase> cases_of(const ResourceJob& job, const ResourceOptions& options,
                                   const Library& library) {
  Request request = parse_request(job.request, "the request of " + job.model);
  request.engine = options.engine;
  const Report report = predict(request, library);
  std::vector<ResourceCase> cases;
  for (const UseName& use : resource::use_names()) {
    const auto measured = [&](const measured::RunUse& run) { return number_of(run, use); };
    auto one = case_of(job, measured, number_of(report.resources, use));
    if (!one) continue;
    one->number = use.name;
    one->use = use;
    one->engine = engine_of(report, "resources");
    cases.push_back(std::move(*one));
  }
  for (const OtherNumber& other : other_numbers(report)) {
    auto one = case_of(job, other.measured, other.predicted);
    if (!one) continue;
    one->number = other.name;
    one->engine = engine_of(report, other.name == "step_time_s" ? other.name : "resources");
    cases.push_back(std::move(*one));
  }
  return cases;
}

bool is_wanted(const ResourceJob& job, const ResourceOptions& options) {
  const auto& settings = options.settings;
  if (!options.split.empty() && job.split != options.split) return false;
  return settings.empty() ||
         std::find(settings.begin(), settings.end(), job.setting) != settings.end();
}

}  // namespace

ResourceEvaluation evaluate_resources(const std::filesystem::path& data,
                                      const ResourceOptions& options, const Library& library) {
  std::vector<ResourceJob> jobs = measured::resource_jobs(data);
  std::erase_if(jobs, [&](const ResourceJob& job) { return !is_wanted(job, options); });
  if (jobs.empty()) {
    throw Error(ErrorKind::BadInput,
                "no job with measured resources is of the split and settings "
                "asked for; --split all takes every split");
  }
  std::vector<std::vector<ResourceCase>> found(jobs.size());
  std::mutex turn;
  std::size_t done = 0;
  parallel_for(jobs.size(), options.threads, [&](std::size_t i) {
    found[i] = cases_of(jobs[i], options, library);
    const std::lock_guard lock(turn);
    ++done;
    if (options.progress) {
      options.progress(static_cast<double>(done) / static_cast<double>(jobs.size()));
    }
  });
  ResourceEvaluation evaluation;
  for (std::vector<ResourceCase>& cases : found) {
    for (ResourceCase& one : cases) evaluation.cases.push_back(std::move(one));
  }
  evaluation.scores = score_resources(evaluation.cases);
  evaluation.numbers = score_numbers(evaluation.cases);
  return evaluation;
}

}  // namespace foretrain::evaluate
