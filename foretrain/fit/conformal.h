// SPDX-License-Identifier: Apache-2.0
// Intervals from residuals of many sources, such that a source that was left out is covered as
// often as they promise: conformal prediction by regime (Vovk et al. 2005; Romano et al. 2020),
// with sources in place of single measurements as what is exchanged.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "foretrain/fit/residuals.h"

namespace foretrain::fit {

// The interval of one regime: ends of log(measured / predicted).
struct IntervalCell {
  double low = 0;
  double high = 0;
  std::size_t rows = 0;     // measurements behind it
  std::size_t sources = 0;  // that they come from
};

struct ConformalOptions {
  double confidence = 0.9;
  double coarser = 2;  // whole sources as which the rows of the coarser cell count in a cell
  std::size_t most_traits = 1;
  double gain = 0.01;  // by which one more trait must improve the score
  std::vector<Trait> choices{Trait::Family, Trait::Scale, Trait::Precision, Trait::Counter,
                             Trait::Sharing};
};

// What is chosen before quantiles are taken: traits, and the share of rows beyond each end.
struct Rule {
  std::vector<Trait> traits;
  double tail = 0.05;
};

// Quantiles in each regime, of its rows together with those of the coarser regime, which count as
// `coarser` sources: a regime that many sources know has its own, one that a single source knows
// lies near the coarser one's.
std::map<std::string, IntervalCell> fit_cells(const Residuals& residuals, const Rule& rule,
                                              Sources without, const ConformalOptions& options);

// The values that `shares` of each regime's rows do not exceed, weighted as in fit_cells.
std::map<std::string, std::vector<double>> fit_quantiles(const Residuals& residuals,
                                                         const Rule& rule,
                                                         const std::vector<double>& shares,
                                                         const ConformalOptions& options);

// Traits of the request, never names of frameworks or architectures, which tell nothing of others,
// one by one while the mean interval score of sources left out improves, then the tails
// that cover left-out sources as promised. Never looks at `without`.
Rule choose_rule(const Residuals& residuals, Sources without, const ConformalOptions& options);

// For each row: its source left out of rule and quantiles.
std::vector<LeftOut> leave_sources_out(const Residuals& residuals, const ConformalOptions& options);

}  // namespace foretrain::fit
