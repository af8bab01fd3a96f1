// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/spread.h"

#include <algorithm>
#include <cmath>

namespace foretrain {
namespace {

void add(Effect& sum, const Effect& effect, double times) {
  sum.width += times * effect.width;
  sum.skew += times * effect.skew;
}

}  // namespace

Ends ends_of(const Spread& spread, const Regime& regime, const StepShares& shares) {
  Effect sum = spread.base;
  for (const auto& [which, effects] : spread.words) {
    const auto found = effects.find(word(regime, which));
    if (found != effects.end()) add(sum, found->second, 1);
  }
  add(sum, spread.communication, shares.communication);
  add(sum, spread.host, shares.host);
  return {-std::min(std::exp(sum.width - sum.skew), kWidestEnd),
          std::min(std::exp(sum.width + sum.skew), kWidestEnd)};
}

}  // namespace foretrain
