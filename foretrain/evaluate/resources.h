// SPDX-License-Identifier: Apache-2.0
// Predicted use of resources against measured use.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/knowledge/library.h"
#include "foretrain/resource/kinds.h"

namespace foretrain::evaluate {

// One measured number of one job beside its prediction.
struct ResourceCase {
  std::string setting{};
  std::string split{};
  std::string model{};
  // "worker.net_tx.burst_s"; also "step_time_s", "worker.memory_used" and burst time per step,
  // "worker.net_tx.burst_per_step_s": share of the time in bursts times the step.
  std::string number{};
  std::optional<resource::UseName> use{};  // absent for the latter three
  double measured = 0;                     // the median of the repeats
  std::vector<double> repeats{};           // each of them
  std::optional<double> predicted{};       // absent: predicted not to alternate
  std::optional<double> low{};
  std::optional<double> high{};
  std::string engine{};
  std::string request{};  // JSON
};

// Errors of the numbers that the paper (Driple) has: burst amount, burst and idle duration,
// together. Errors are fractions.
struct ResourceScore {
  std::string setting{};
  resource::Role role = resource::Role::Worker;
  resource::Resource resource = resource::Resource::Device;
  std::size_t jobs = 0;
  std::size_t missing = 0;  // numbers measured to alternate but predicted not to: count as 100 %
  double mean = 0;
  double median = 0;
  std::array<double, resource::kNumbers.size()> of_number{};  // mean error of each number
  std::optional<double> floor_mean{};  // of one run against the median of its other repeats
  std::optional<double> floor_median{};
  double log_rmse = 0;
  double nrmse = 0;  // root mean square over the largest measured value, mean of three
  std::optional<double> coverage{};  // share of the numbers that lie in their intervals
};

// Errors of a number that is none of a resource's alternation, as above.
struct NumberScore {
  std::string setting{};
  std::string number{};
  std::size_t jobs = 0;
  std::size_t missing = 0;
  double mean = 0;
  double median = 0;
  std::optional<double> floor_mean{};
  std::optional<double> floor_median{};
  double log_rmse = 0;
  std::optional<double> coverage{};
};

struct ResourceEvaluation {
  std::vector<ResourceCase> cases;
  std::vector<ResourceScore> scores;
  std::vector<NumberScore> numbers;
};

struct ResourceOptions {
  std::string split = "test";           // "": all
  std::string engine = "auto";          // as in a request
  std::vector<std::string> settings{};  // only these; empty: all
  int threads = 0;
  std::function<void(double)> progress{};
};

// Predicts every job of `data` (measured/resource_runs.h) whose resources were measured. Throws
// Error as resource_jobs and predict do; BadInput where none is of the split and settings.
ResourceEvaluation evaluate_resources(const std::filesystem::path& data,
                                      const ResourceOptions& options, const Library& library);

// A score for each setting, role and resource, settings in the order of their first cases.
std::vector<ResourceScore> score_resources(const std::vector<ResourceCase>& cases);

// A score for each setting and each number without `use`, in the order of their first cases.
std::vector<NumberScore> score_numbers(const std::vector<ResourceCase>& cases);

std::string to_json(const ResourceEvaluation& evaluation);
// One line per number for a CSV file, with its header.
std::string resource_rows(const ResourceEvaluation& evaluation);

}  // namespace foretrain::evaluate
