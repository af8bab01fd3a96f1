// SPDX-License-Identifier: Apache-2.0
// How the time of one workload changes with workers, nodes, batch, samples and cores, learned from
// its own measured runs: what `foretrain fit scaling` finds and the scaling engine uses.
// docs/scaling.md says how.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/learn/feature_map.h"
#include "foretrain/learn/regressor.h"

namespace foretrain {

// Which time was measured.
enum class TimeOf { Step, Epoch, Total };
std::string_view name_of(TimeOf time);  // "step", "epoch", "total"
std::optional<TimeOf> time_of_named(std::string_view name);

// What times may depend on, each a positive number:
//   samples  of the data set, for the time of an epoch; all that run through, for that of a job
//   workers  devices that compute
//   nodes    that they are on
//   batch    samples of one worker in a step
//   cores    of the CPU that one worker has
std::span<const std::string_view> scaling_variables();
inline constexpr std::string_view kOperatorsVariable = "operators";  // that engine's time

// From values of variables to a time: features, a regressor, and what it tells.
struct ScalingForm {
  learn::FeatureMap map{};  // of the variables, then of the operator engine's time
  learn::Regressor regressor{};
  bool log_time = false;      // it tells the time's logarithm, else the time itself
  bool on_operators = false;  // of its ratio to the operator engine's time; only of logarithms
};

// Seconds, never below a millionth of one. `values`: of the variables, and the operator engine's
// time as the last where the form wants it.
double time_s(const ScalingForm& form, std::span<const double> values);

struct ScalingRange {
  double least = 0;
  double most = 0;
};

// One workload with all that its requests have in common; "" where any will do.
struct ScalingWorkload {
  std::string model{};   // as requests name it; without parameters where these vary
  std::string device{};  // the catalog's name
  std::string precision{};
  std::string framework{};
  std::string method{};  // "ridge", "forest"; for people
  ScalingForm form{};
  std::vector<ScalingRange> domain{};  // of each variable: where the answer counts
  // Ends of log(measured / predicted) on runs left out; absent where these were too few.
  std::optional<double> low{};
  std::optional<double> high{};
  double error = 0;      // mean |predicted / measured - 1| of the same
  std::size_t rows = 0;  // that it was fitted on
};

struct ScalingModel {
  TimeOf time = TimeOf::Step;
  std::vector<std::string> variables{};  // of scaling_variables()
  bool with_operators = false;
  // Of the constants that the operator engine predicted with; "" where it took no part.
  std::string constants{};
  double confidence = 0.9;  // of the intervals
  std::vector<ScalingWorkload> workloads{};
};

// Whether values of the variables lie in the workload's domain.
bool is_inside(const ScalingWorkload& workload, std::span<const double> values);

// What a model tells of one workload at some values of its variables.
struct ScalingForecast {
  std::string model{};   // "" where any will do
  std::string device{};  // likewise
  double value = 0;
  std::optional<double>
      low{};  // absent outside of the domain, and where too few runs were left out
  std::optional<double> high{};
  bool inside = false;  // of the domain
};
// Of each workload, in the file's order. Only for models without the operator engine's time.
std::vector<ScalingForecast> forecast_at(const ScalingModel& model, std::span<const double> values);

inline constexpr const char* kScalingFormat = "foretrain-scaling";

// Throws Error(BadInput) naming `where` for what is no such file, or was damaged.
ScalingModel read_scaling(std::string_view text, const std::string& where);
std::string write_scaling(const ScalingModel& model, std::span<const std::string> notes);

}  // namespace foretrain
