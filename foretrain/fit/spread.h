// SPDX-License-Identifier: Apache-2.0
// The spread of steps around predictions, from residuals of many sources.
#pragma once

#include <vector>

#include "foretrain/fit/residuals.h"

namespace foretrain::fit {

struct SpreadFit {
  double confidence = 0.9;
  // Whose words have effects. Never names of frameworks or devices, which tell nothing of others.
  std::vector<Trait> traits{Trait::Family, Trait::Scale, Trait::Length};
  // By which squared effects are added to the mean interval score: what few sources show stays
  // small, and skews smaller than widths.
  double width_penalty = 0.05;
  double skew_penalty = 0.5;
};

// Effects with the least mean interval score, sources alike; then all intervals are widened or
// narrowed by one factor, such that each source, left out of the effects, is covered as promised on
// the mean. Never looks at rows of `without`.
Spread fit_spread(const Residuals& residuals, Sources without, const SpreadFit& fit);

// For each row: its source left out of everything.
std::vector<LeftOut> leave_sources_out(const Residuals& residuals, const SpreadFit& fit);

}  // namespace foretrain::fit
