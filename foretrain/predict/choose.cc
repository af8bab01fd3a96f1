// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/detail/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foretrain {
namespace {

constexpr std::string_view kOperators = "operators";
constexpr std::string_view kAuto = "auto";

// One engine's word on a number.
struct Candidate {
  const Target* target;
  std::string_view engine;
};

// How wide an interval is; without one, as wide as can be.
double width(const Estimate& estimate) {
  if (!estimate.low || !estimate.high || *estimate.low <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  return *estimate.high / *estimate.low;
}

Chosen take(const Candidate& one, std::string_view reason) {
  return {*one.target, one.engine, std::string(reason)};
}

// The engine that was asked for where it knows such requests, or is the only one to answer.
Chosen choose_wanted(const std::vector<Candidate>& those, std::string_view wanted) {
  const auto found = std::find_if(those.begin(), those.end(),
                                  [&](const Candidate& one) { return one.engine == wanted; });
  const std::string name(wanted);
  if (found == those.end()) return take(those.front(), name + " does not answer");
  if (!found->target->inside && found != those.begin()) {
    return take(those.front(), "the domain of " + name + " does not hold the request");
  }
  return take(*found, "asked for by engine=" + name);
}

Chosen choose_narrowest(const std::vector<Candidate>& those) {
  if (those.size() == 1) return take(those.front(), kOnlyEngine);
  const Candidate* best = &those.front();
  int inside = 0;
  for (const Candidate& one : those) {
    if (!one.target->inside) continue;
    ++inside;
    const bool narrower = width(one.target->estimate) < width(best->target->estimate);
    if (!best->target->inside || narrower) best = &one;
  }
  if (inside == 0) return take(*best, "no engine's domain holds the request");
  if (inside == 1) return take(*best, "no other engine's domain holds the request");
  if (std::isinf(width(best->target->estimate))) return take(*best, "no engine has an interval");
  return take(*best, "narrowest interval of those whose domain holds the request");
}

// The answers that count, operators first: they win where nothing else decides.
std::vector<const Answer*> in_order(const std::vector<Answer>& answers, std::string_view engine) {
  std::vector<const Answer*> order;
  for (const Answer& answer : answers) {
    if (answer.engine == kOperators) order.push_back(&answer);
  }
  for (const Answer& answer : answers) {
    if (answer.engine == kOperators) continue;
    if (engine == kAuto || engine == answer.engine) order.push_back(&answer);
  }
  return order;
}

}  // namespace

std::vector<Chosen> choose(const std::vector<Answer>& answers, std::string_view engine) {
  std::vector<std::vector<Candidate>> numbers;
  for (const Answer* answer : in_order(answers, engine)) {
    for (const Target& target : answer->targets) {
      auto known = std::find_if(numbers.begin(), numbers.end(), [&](const auto& those) {
        return those.front().target->name == target.name;
      });
      if (known == numbers.end()) known = numbers.emplace(numbers.end());
      known->push_back({&target, answer->engine});
    }
  }
  std::vector<Chosen> chosen;
  for (const std::vector<Candidate>& those : numbers) {
    chosen.push_back(engine == kAuto ? choose_narrowest(those) : choose_wanted(those, engine));
  }
  return chosen;
}

}  // namespace foretrain
