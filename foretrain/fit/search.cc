// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/search.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/fit/detail/prior.h"

namespace foretrain::fit {
namespace {

Variable variable_for(const std::string& name, double start) {
  constexpr double kFactor = 4;
  const bool share = name.ends_with("tail") || name.starts_with("bandwidth.") ||
                     name.starts_with("cap.") || name.ends_with("split") ||
                     name.ends_with("reread") || name.ends_with("least_wave");
  return {start, start / kFactor, share ? std::min(1.0, kFactor * start) : kFactor * start};
}

}  // namespace

bool named_by(const std::string& name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  const bool begins = pattern.ends_with('.') || pattern.ends_with('_');
  return begins ? name.starts_with(pattern) : name == pattern;
}

bool named_by_any(const std::string& name, std::span<const std::string> patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return named_by(name, pattern); });
}

std::vector<cost::NamedConstant> varied_constants(cost::Constants& constants,
                                                  std::span<const std::string_view> patterns,
                                                  std::span<const std::string> vary) {
  const std::vector<cost::NamedConstant> all = cost::named_constants(constants);
  for (const std::string& pattern : vary) {
    const auto named = [&](const auto& constant) { return named_by(constant.name, pattern); };
    if (std::any_of(all.begin(), all.end(), named)) continue;
    throw Error(ErrorKind::NotFound, "no constant '" + printable(pattern) +
                                         "' to vary; docs/models/ has tables of all of them");
  }
  std::vector<cost::NamedConstant> varied;
  for (const cost::NamedConstant& constant : all) {
    const auto names = [&](std::string_view pattern) { return named_by(constant.name, pattern); };
    const bool asked = named_by_any(constant.name, vary) && *constant.value > 0;
    if (asked || std::any_of(patterns.begin(), patterns.end(), names)) varied.push_back(constant);
  }
  return varied;
}

std::vector<double*> places_of(std::span<const cost::NamedConstant> varied) {
  std::vector<double*> places;
  for (const cost::NamedConstant& constant : varied) places.push_back(constant.value);
  return places;
}

std::vector<Variable> variables_of(std::span<const cost::NamedConstant> varied) {
  std::vector<Variable> variables;
  for (const cost::NamedConstant& constant : varied) {
    variables.push_back(variable_for(constant.name, *constant.value));
  }
  return variables;
}

void search(std::span<const cost::NamedConstant> varied, int evaluations,
            const std::function<double()>& loss) {
  constexpr double kPrior = 0.05;
  const std::vector<Variable> variables = variables_of(varied);
  minimise_in_place(places_of(varied), variables, evaluations,
                    [&](const std::vector<double>& values) {
                      return loss() + distance(variables, values, kPrior);
                    });
}

void round_digits(cost::Constants& constants) {
  for (const cost::NamedConstant& constant : cost::named_constants(constants)) {
    *constant.value = rounded(*constant.value);
  }
}

}  // namespace foretrain::fit
