// SPDX-License-Identifier: Apache-2.0
// Intervals from residuals of many sources, such that a source that was left out is covered as
// often as they promise: conformal prediction by regime (Vovk et al. 2005; Romano et al. 2020),
// with sources in place of single measurements as what is exchanged.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "foretrain/knowledge/intervals.h"

namespace foretrain::fit {

struct Residual {
  int source = 0;        // of Residuals::sources
  Regime regime;         // its `Seen` is filled in here: it depends on what else is left out
  std::string chip;      // the device
  double log_ratio = 0;  // log(measured / predicted time)
};

struct Residuals {
  std::vector<std::string> sources;  // at most 64
  std::vector<Residual> rows;
};

struct ConformalOptions {
  double confidence = 0.9;
  double most_rows = 60;  // of a source and cell, more count as so many: as one whole source
  double coarser = 2;     // whole sources as which the rows of the coarser cell count in a cell
  std::size_t most_traits = 1;
  double gain = 0.01;  // by which one more trait must improve the score
  std::vector<Trait> choices{Trait::Family, Trait::Scale,  Trait::Bound,   Trait::Precision,
                             Trait::Mode,   Trait::Length, Trait::Machine, Trait::Seen};
};

// What is chosen before quantiles are taken: traits, and the share of rows beyond each end.
struct Rule {
  std::vector<Trait> traits;
  double tail = 0.05;
};

// Sources that are left out, as bits.
using Sources = std::uint64_t;

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

// What a row's interval is when its source took no part in anything: rule and quantiles.
struct LeftOut {
  IntervalCell cell;
  double constant = 0;  // one ratio for all, by the same other sources: between -constant and it
};
std::vector<LeftOut> leave_sources_out(const Residuals& residuals, const ConformalOptions& options);

// Width plus 2 / (1 - confidence) times what lies outside (Winkler 1972; Gneiting and Raftery
// 2007), on logarithms; less is better.
double interval_score(double value, double low, double high, double confidence);

// The least value that at least `share` of the weight does not exceed. There must be one, and they
// must be sorted.
double weighted_quantile(const std::vector<std::pair<double, double>>& values_and_weights,
                         double share);

}  // namespace foretrain::fit
