// SPDX-License-Identifier: Apache-2.0
// What a step among several workers has beyond its operators and collectives: what the exchange of
// gradients costs (data/predictors/exchange.json), stragglers and shared nodes
// (data/predictors/straggling.json), from measured steps.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/knowledge/library.h"
#include "foretrain/measured/measured_step.h"

namespace foretrain::fit {

struct WorkerFit {
  std::vector<std::string> without;  // models whose rows are not used, in the measurements' words
  std::size_t rows = 300;            // steps in all, about
  int evaluations = 100;
  // How far numbers may lie from where they start, and steps from predictions: as CalibrationFit.
  double usual = 0.5;
  double noise = 0.08;
};

// Steps that share a factor between predicted and measured time, which is left open.
using StepGroup = std::vector<measured::MeasuredStep>;

// Steps among the rows of `data` (measured/open_tables.h), without those of the test split. What
// ran on one worker and on several is a group of its own (model, device, precision, batch,
// framework), so that only the difference tells; where there is no step of one worker, all steps of
// a device in a file are one. Throws Error: NotFound where no step of several workers is left; what
// evaluate throws.
std::vector<StepGroup> worker_steps(const std::filesystem::path& data, const WorkerFit& options,
                                    const Library& library);

// Mean of |ln(predicted / measured)| around the groups' medians, before and after.
struct WorkerError {
  double before = 0;
  double after = 0;
};

struct FittedExchange {
  comm::ExchangeCosts costs;
  WorkerError error;
};

// Times and shares of the exchange that predict the steps best, starting from those in use. Sizes
// of buckets, copies and cycles are settings of the frameworks, which nothing is fitted to; numbers
// that the steps do not depend on stay as they are. Throws what predictions throw.
FittedExchange fit_exchange(const std::vector<StepGroup>& groups, const WorkerFit& options,
                            const Library& library);

struct FittedStraggling {
  cost::Straggling straggling;
  WorkerError error;
};

// The same of stragglers and of nodes that devices share.
FittedStraggling fit_straggling(const std::vector<StepGroup>& groups, const WorkerFit& options,
                                const Library& library);

}  // namespace foretrain::fit
