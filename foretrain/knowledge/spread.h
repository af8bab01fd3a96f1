// SPDX-License-Identifier: Apache-2.0
// How far a measured step may lie from a predicted one, by what the request states and what its
// step spends its time on. docs/models/intervals.md says how it is found.
#pragma once

#include <map>
#include <string>

#include "foretrain/knowledge/regime.h"

namespace foretrain {

// What is added to the logarithms of an interval's ends: `width` to both, `skew` to that of the
// upper end, while the lower end loses it.
struct Effect {
  double width = 0;
  double skew = 0;
};

// Of a predicted step's time, from 0 to 1.
struct StepShares {
  double communication = 0;  // exposed
  double host = 0;           // the device waits for it
};

// Ends of log(measured / predicted time): the lower one below 0, the upper one above.
struct Ends {
  double low = 0;
  double high = 0;
};

struct Spread {
  Effect base;
  std::map<Trait, std::map<std::string, Effect>> words;
  Effect communication;  // times the share
  Effect host;           // likewise
};

inline constexpr double kWidestEnd = 10;  // nothing is predicted that badly

//   high = exp(sum of width + skew), low = -exp(sum of width - skew)
//
// over the base, the words of the regime that have an effect and the shares' effects.
Ends ends_of(const Spread& spread, const Regime& regime, const StepShares& shares);

}  // namespace foretrain
