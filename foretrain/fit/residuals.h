// SPDX-License-Identifier: Apache-2.0
// Residuals of many sources, of which every one counts alike, however many rows it has: what
// intervals are made of, such that a source that was left out is covered as often as they promise.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/knowledge/spread.h"

namespace foretrain::fit {

struct Residual {
  int source = 0;  // of Residuals::sources
  Regime regime;
  StepShares shares;     // of a step
  double log_ratio = 0;  // log(measured / predicted)
};

inline constexpr std::size_t kFewestSources = 3;
inline constexpr std::size_t kMostSources = 64;  // bits of Sources

struct Residuals {
  std::vector<std::string> sources;  // at most kMostSources
  std::vector<Residual> rows;
};

// The place of a source's name, which is added where it is new.
int source_of(const std::string& name, std::vector<std::string>& sources);

// Sources, as bits.
using Sources = std::uint64_t;
inline Sources bit(int source) { return Sources{1} << source; }

// Rows of a source that count as one whole source; fewer count as their share of one.
inline constexpr double kWholeSource = 60;

// The weight of each row: 0 of sources in `without`.
std::vector<double> weights_of(const Residuals& residuals, Sources without);

// Every n-th row of a source, so that none has more than 250.
Residuals thin(const Residuals& residuals);

// What a row's interval is when its source took no part in anything that made it.
struct LeftOut {
  Ends ends;
  double constant = 0;  // one ratio for all, by the same other sources: between -constant and it
};

// The ratio that `confidence` of the rows of sources that are not in `without` do not exceed.
double constant_ratio(const Residuals& residuals, Sources without, double confidence);

// Width plus 2 / (1 - confidence) times what lies outside (Winkler 1972; Gneiting and Raftery
// 2007), on logarithms; less is better.
double interval_score(double value, const Ends& ends, double confidence);

// The least value that at least `share` of the weight does not exceed. There must be one, and they
// must be sorted.
double weighted_quantile(const std::vector<std::pair<double, double>>& values_and_weights,
                         double share);

double to_four_decimals(double value);

}  // namespace foretrain::fit
