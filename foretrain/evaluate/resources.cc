// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/resources.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/median.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/evaluate/detail/metrics.h"
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

std::string engine_of(const Report& report) {
  for (const EngineReport& one : report.engines) {
    if (one.number == "resources") return one.engine;
  }
  return report.engine;
}

std::vector<ResourceCase> cases_of(const ResourceJob& job, const ResourceOptions& options,
                                   const Library& library) {
  Request request = parse_request(job.request, "the request of " + job.model);
  request.engine = options.engine;
  const Report report = predict(request, library);
  std::vector<ResourceCase> cases;
  for (const UseName& use : resource::use_names()) {
    const std::optional<double> measured = measured::number_of(job.median, use);
    if (!measured || !(*measured > 0)) continue;
    ResourceCase one{job.setting, job.split, job.model, use, *measured, {}, {}, {}, {}, {}};
    for (const measured::RunUse& run : job.repeats) {
      if (const auto value = measured::number_of(run, use)) one.repeats.push_back(*value);
    }
    const Predicted predicted = number_of(report.resources, use);
    one.predicted = predicted.value;
    one.low = predicted.low;
    one.high = predicted.high;
    one.engine = engine_of(report);
    cases.push_back(std::move(one));
  }
  return cases;
}

// One run against the median of the others, for every run.
void add_floor(const ResourceCase& one, std::vector<double>& errors) {
  for (std::size_t i = 0; i < one.repeats.size() && one.repeats.size() > 1; ++i) {
    std::vector<double> others = one.repeats;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double middle = median(std::move(others));
    if (middle > 0) errors.push_back(one.repeats[i] / middle - 1);
  }
}

// What the scores of one resource are means of.
struct Sums {
  std::size_t jobs = 0;
  std::size_t missing = 0;
  std::vector<double> errors;  // of the paper's numbers
  std::array<std::vector<double>, resource::kNumbers.size()> of_number;
  std::array<double, resource::kNumbers.size()> squares{};
  std::array<double, resource::kNumbers.size()> largest{};
  std::vector<double> floor;
  double log_squares = 0;
  std::size_t logs = 0;
  std::size_t with_interval = 0;
  std::size_t inside = 0;
};

bool in_paper(Number number) {
  return number == Number::BurstAmount || number == Number::BurstTime || number == Number::IdleTime;
}

void add(const ResourceCase& one, Sums& sums) {
  const std::size_t number = index_of(one.use.number);
  const double error = one.predicted ? *one.predicted / one.measured - 1 : -1;
  sums.of_number[number].push_back(error);
  if (one.low && one.high) {
    ++sums.with_interval;
    sums.inside += *one.low <= one.measured && one.measured <= *one.high ? 1 : 0;
  }
  if (!in_paper(one.use.number)) return;
  if (one.use.number == Number::BurstAmount) ++sums.jobs;
  if (!one.predicted) ++sums.missing;
  sums.errors.push_back(error);
  sums.squares[number] += std::pow(one.predicted.value_or(0) - one.measured, 2);
  sums.largest[number] = std::max(sums.largest[number], one.measured);
  add_floor(one, sums.floor);
  if (one.predicted && *one.predicted > 0) {
    sums.log_squares += std::pow(std::log(*one.predicted / one.measured), 2);
    ++sums.logs;
  }
}

double nrmse(const Sums& sums) {
  double total = 0;
  int numbers = 0;
  for (const Number number : resource::kNumbers) {
    const std::size_t i = index_of(number);
    if (!in_paper(number) || sums.of_number[i].empty()) continue;
    const auto count = static_cast<double>(sums.of_number[i].size());
    total += std::sqrt(sums.squares[i] / count) / sums.largest[i];
    ++numbers;
  }
  return numbers > 0 ? total / numbers : 0;
}

ResourceScore score_of(const std::string& setting, const UseName& use, const Sums& sums) {
  ResourceScore score{.setting = setting, .role = use.role, .resource = use.resource};
  score.jobs = sums.jobs;
  score.missing = sums.missing;
  score.mean = mape(sums.errors);
  score.median = median_ape(sums.errors);
  for (std::size_t i = 0; i < sums.of_number.size(); ++i) {
    score.of_number[i] = mape(sums.of_number[i]);
  }
  if (!sums.floor.empty()) {
    score.floor_mean = mape(sums.floor);
    score.floor_median = median_ape(sums.floor);
  }
  if (sums.logs > 0) score.log_rmse = std::sqrt(sums.log_squares / static_cast<double>(sums.logs));
  score.nrmse = nrmse(sums);
  if (sums.with_interval > 0) {
    score.coverage = static_cast<double>(sums.inside) / static_cast<double>(sums.with_interval);
  }
  return score;
}

bool is_wanted(const ResourceJob& job, const ResourceOptions& options) {
  const auto& settings = options.settings;
  if (!options.split.empty() && job.split != options.split) return false;
  return settings.empty() ||
         std::find(settings.begin(), settings.end(), job.setting) != settings.end();
}

}  // namespace

std::vector<ResourceScore> score_resources(const std::vector<ResourceCase>& cases) {
  using Key = std::tuple<std::size_t, resource::Role, resource::Resource>;
  std::vector<std::string> settings;
  std::map<Key, std::pair<const ResourceCase*, Sums>> groups;
  for (const ResourceCase& one : cases) {
    const auto known = std::find(settings.begin(), settings.end(), one.setting);
    const auto place = static_cast<std::size_t>(known - settings.begin());
    if (known == settings.end()) settings.push_back(one.setting);
    auto& [first, sums] = groups[{place, one.use.role, one.use.resource}];
    if (first == nullptr) first = &one;
    add(one, sums);
  }
  std::vector<ResourceScore> scores;
  for (const auto& [key, group] : groups) {
    scores.push_back(score_of(group.first->setting, group.first->use, group.second));
  }
  return scores;
}

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
  return evaluation;
}

std::string to_json(const ResourceEvaluation& evaluation) {
  JsonWriter json;
  json.begin_object().key("resources").begin_array();
  for (const ResourceScore& score : evaluation.scores) {
    json.begin_object().field("setting", score.setting).field("role", name_of(score.role));
    json.field("resource", name_of(score.resource));
    json.field("jobs", static_cast<double>(score.jobs));
    json.field("missing", static_cast<double>(score.missing));
    json.field("mean", 100 * score.mean).field("median", 100 * score.median);
    const auto percent = [](const std::optional<double>& share) {
      return share ? std::optional(100 * *share) : std::nullopt;
    };
    json.field("floor_mean", percent(score.floor_mean));
    json.field("floor_median", percent(score.floor_median));
    for (const Number number : resource::kNumbers) {
      json.field(std::string(name_of(number)), 100 * score.of_number[index_of(number)]);
    }
    json.field("log_rmse", score.log_rmse).field("nrmse", score.nrmse);
    json.field("coverage", percent(score.coverage)).end_object();
  }
  return json.end_array().end_object().finish();
}

std::string resource_rows(const ResourceEvaluation& evaluation) {
  std::string text = "setting,split,model,number,repeats,measured,predicted,low,high,engine\n";
  const auto field = [](const std::optional<double>& value) {
    return value ? csv_field(*value) : std::string();
  };
  for (const ResourceCase& one : evaluation.cases) {
    text += csv_field(one.setting) + "," + csv_field(one.split) + "," + csv_field(one.model) + "," +
            std::string(one.use.name) + "," + std::to_string(one.repeats.size()) + "," +
            csv_field(one.measured) + "," + field(one.predicted) + "," + field(one.low) + "," +
            field(one.high) + "," + csv_field(one.engine) + "\n";
  }
  return text;
}

}  // namespace foretrain::evaluate
