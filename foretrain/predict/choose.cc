// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/choose.h"

#include <algorithm>
#include <limits>

namespace foretrain {
namespace {

constexpr std::string_view kOperators = "operators";

// How wide an interval is; without one, as wide as can be.
double width(const Estimate& estimate) {
  if (!estimate.low || !estimate.high || *estimate.low <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  return *estimate.high / *estimate.low;
}

// Whether `one` replaces what was chosen so far.
bool is_better(const Chosen& one, const Chosen& known, std::string_view wanted) {
  if (!one.target.inside) return false;
  if (wanted != "auto") return one.engine == wanted;
  if (!known.target.inside) return true;
  return width(one.target.estimate) < width(known.target.estimate);
}

}  // namespace

std::vector<Chosen> choose(const std::vector<Answer>& answers, std::string_view engine) {
  std::vector<Chosen> chosen;
  const auto consider = [&](const Answer& answer) {
    for (const Target& target : answer.targets) {
      const Chosen one{target, answer.engine};
      const auto known = std::find_if(chosen.begin(), chosen.end(), [&](const Chosen& c) {
        return c.target.name == target.name;
      });
      if (known == chosen.end()) {
        chosen.push_back(one);
      } else if (is_better(one, *known, engine)) {
        *known = one;
      }
    }
  };
  for (const Answer& answer : answers) {
    if (answer.engine == kOperators) consider(answer);
  }
  for (const Answer& answer : answers) {
    if (answer.engine != kOperators) consider(answer);
  }
  return chosen;
}

}  // namespace foretrain
