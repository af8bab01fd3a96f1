// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/worker_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/fit/detail/minimise.h"
#include "foretrain/fit/detail/prior.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

struct WorkerStep {
  measured::MeasuredStep step;
  int workers = 1;
};

using Key = std::vector<std::string>;
using Jobs = std::map<Key, std::vector<WorkerStep>>;

// The step that a row tells of; nothing where it tells of something else.
std::optional<double> measured_step_s(const evaluate::Case& row, const Request& request,
                                      const Library& library) {
  const measured::ReportNumber& number = measured::report_numbers()[row.number];
  const bool whole_job = number.name == std::string_view("total_time_s");
  if (number.of_step == 0 || whole_job) return std::nullopt;
  const double ratio = row.measured / row.predicted;
  return predict(request, library).step_time_s.value * (number.of_step > 0 ? ratio : 1 / ratio);
}

// By all that a job keeps when it runs on more workers; the first two are file and device.
Jobs read_jobs(const std::filesystem::path& data, const WorkerFit& options,
               const Library& library) {
  Jobs jobs;
  evaluate::Observer observer;
  observer.on_case = [&](const evaluate::Case& row) {
    if (row.outcome != evaluate::Outcome::Predicted || row.split == "test") return;
    const auto& without = options.without;
    if (std::find(without.begin(), without.end(), row.model) != without.end()) return;
    if (row.request.empty() || !row.workers) return;
    Request request = parse_request(row.request, "request");
    const std::optional<double> step_s = measured_step_s(row, request, library);
    if (!step_s) return;
    const Key key{row.file,      row.device,        row.model,
                  row.precision, request.framework, std::to_string(row.batch.value_or(0))};
    jobs[key].push_back({{std::move(request), *step_s}, *row.workers});
  };
  evaluate::evaluate(data, {}, library, observer);
  return jobs;
}

// `count` of them, evenly; the first among them.
template <typename Some>
std::vector<Some> evenly(const std::vector<Some>& all, std::size_t count) {
  std::vector<Some> chosen;
  const std::size_t kept = std::min(count, all.size());
  for (std::size_t i = 0; i < kept; ++i) chosen.push_back(all[i * all.size() / kept]);
  return chosen;
}

std::vector<std::vector<WorkerStep>> groups_of(Jobs jobs) {
  std::vector<std::vector<WorkerStep>> groups;
  Jobs pooled;  // by file and device
  for (auto& [key, steps] : jobs) {
    const auto alone = std::stable_partition(steps.begin(), steps.end(),
                                             [](const auto& one) { return one.workers == 1; });
    if (alone == steps.end()) continue;  // never among others
    if (alone == steps.begin()) {
      std::vector<WorkerStep>& pool = pooled[{key[0], key[1]}];
      pool.insert(pool.end(), steps.begin(), steps.end());
    } else {
      groups.push_back(std::move(steps));
    }
  }
  for (auto& [key, steps] : pooled) groups.push_back(std::move(steps));
  return groups;
}

// A library of its own with places in it that are varied.
struct Trial {
  Library library;
  std::vector<NumberPlace> varied{};
};

double mean_spread(const std::vector<StepGroup>& groups, const Library& library) {
  double sum = 0;
  double count = 0;
  for (const StepGroup& group : groups) {
    std::vector<double> logs;
    for (const measured::MeasuredStep& step : group) {
      logs.push_back(std::log(predict(step.request, library).step_time_s.value / step.step_time_s));
    }
    const double middle = median(logs);
    for (const double log : logs) sum += std::abs(log - middle);
    count += static_cast<double>(logs.size());
  }
  return sum / count;
}

WorkerError search_numbers(const std::vector<StepGroup>& groups, const WorkerFit& options,
                           Trial& trial) {
  constexpr double kFactor = 20;
  std::vector<double*> places;
  std::vector<Variable> variables;
  for (const NumberPlace& number : trial.varied) {
    const double start = *number.value;
    if (start <= 0) continue;
    const bool share = number.name.ends_with("share");
    places.push_back(number.value);
    variables.push_back({start, start / kFactor, share ? 1.0 : kFactor * start});
  }
  double steps = 0;
  for (const StepGroup& group : groups) steps += static_cast<double>(group.size());
  WorkerError error;
  error.before = mean_spread(groups, trial.library);
  minimise_in_place(places, variables, options.evaluations, [&](const std::vector<double>& tried) {
    return squared_moves(variables, tried, options.usual) +
           mean_spread(groups, trial.library) * steps / options.noise;
  });
  for (double* place : places) *place = rounded(*place);
  error.after = mean_spread(groups, trial.library);
  return error;
}

}  // namespace

std::vector<StepGroup> worker_steps(const std::filesystem::path& data, const WorkerFit& options,
                                    const Library& library) {
  const std::vector<std::vector<WorkerStep>> all = groups_of(read_jobs(data, options, library));
  if (all.empty()) {
    throw Error(ErrorKind::NotFound, "no measured step of several workers in '" +
                                         printable(data.string()) + "' is left to fit");
  }
  constexpr std::size_t kLeast = 4;  // of a job, where there are many
  const std::size_t each = std::max(kLeast, options.rows / all.size());
  std::vector<StepGroup> groups;
  for (const auto& group : evenly(all, std::max<std::size_t>(1, options.rows / kLeast))) {
    StepGroup& steps = groups.emplace_back();
    for (const WorkerStep& one : evenly(group, each)) steps.push_back(one.step);
  }
  return groups;
}

FittedExchange fit_exchange(const std::vector<StepGroup>& groups, const WorkerFit& options,
                            const Library& library) {
  const auto costs = std::make_shared<comm::ExchangeCosts>(*library.exchange);
  Trial trial{copy_of(library)};
  trial.library.exchange = costs;
  trial.varied = comm::named_numbers(*costs);
  std::erase_if(trial.varied, [](const NumberPlace& number) {
    return number.group == "ddp" || number.group == "horovod" || number.name == "bucket_bytes";
  });
  const WorkerError error = search_numbers(groups, options, trial);
  return {*costs, error};
}

FittedStraggling fit_straggling(const std::vector<StepGroup>& groups, const WorkerFit& options,
                                const Library& library) {
  const auto straggling = std::make_shared<cost::Straggling>(*library.straggling);
  Trial trial{copy_of(library)};
  trial.library.straggling = straggling;
  trial.varied = cost::named_numbers(*straggling);
  const WorkerError error = search_numbers(groups, options, trial);
  return {*straggling, error};
}

}  // namespace foretrain::fit
