// SPDX-License-Identifier: Apache-2.0
// Learns how the time of a workload scales from its own measured runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/knowledge/scaling_model.h"
#include "foretrain/train/conformal.h"
#include "foretrain/train/divisions.h"
#include "foretrain/train/regression.h"
#include "foretrain/train/scaling_data.h"
#include "foretrain/train/tune.h"

namespace foretrain::train {

struct ScalingFit {
  std::vector<Method> methods{};  // the best of these; empty: of all
  std::size_t folds = 5;
  // How far beyond the measured values of each variable the answer counts, as a factor. Above 1
  // methods are chosen and intervals taken from the highest values left out, not from folds.
  double reach = 1;
  Tuning tuning = Tuning::Grid;
  double confidence = 0.9;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: as many as the machine has; results do not depend on it
};

// One method with the hyper-parameters that judged rows show best.
struct MethodScore {
  Setting setting{};
  double error = 0;  // mean |predicted / measured - 1|, rows that were left out
};

struct FittedWorkload {
  std::string name{};
  std::vector<MethodScore> methods{};  // the best first
};

// A form fitted to rows. `variables`: their names.
ScalingForm fit_form(const ScalingRows& rows, const std::vector<std::string>& variables,
                     bool with_operators, const Setting& setting, std::uint64_t seed);

// What a form says of the judged rows when it is fitted to the others.
struct Judged {
  double predicted_s = 0;
  double measured_s = 0;
};
std::vector<Judged> judge(const ScalingRows& rows, const std::vector<std::string>& variables,
                          bool with_operators, const Division& division, const Setting& setting,
                          std::uint64_t seed);
double mean_error(const std::vector<Judged>& judged);

// What a form is chosen by: rows left out in folds; where it shall go beyond the values that it is
// fitted to, also the ends of these variables' values, all folds with the weight of one end: what
// goes on well must hold between them too. Intervals come from the hardest alone: the ends, or the
// folds where there are none.
struct Trials {
  std::vector<Division> all{};
  std::vector<Division> hardest{};
  bool goes_beyond = false;  // the hardest are ends
};
Trials trials_for(const ScalingRows& rows, std::size_t variables,
                  const std::vector<std::size_t>& goes_beyond, const ScalingFit& options);

// Ends of log(measured / predicted) by the rows left out (split conformal prediction), so wide
// that they hold for the hardest end on its own; absent where too few rows were left out to say.
std::optional<ConformalEnds> interval_of(const ScalingRows& rows,
                                         const std::vector<std::string>& variables,
                                         bool with_operators, const Trials& trials,
                                         const Setting& setting, const ScalingFit& options);

// Every method with its best setting, the best first: least weighted mean over the divisions of
// their errors.
std::vector<MethodScore> compare_methods(const ScalingRows& rows,
                                         const std::vector<std::string>& variables,
                                         bool with_operators,
                                         const std::vector<Division>& divisions,
                                         const ScalingFit& options);

// Each workload with its best form, intervals and domain. `found` hears how well each method did.
// The same data and options give the same model. Throws Error(BadInput) where a workload has fewer
// than four different runs.
ScalingModel fit_scaling(const ScalingData& data, const ScalingFit& options,
                         const std::function<void(const FittedWorkload&)>& found = {});

}  // namespace foretrain::train
