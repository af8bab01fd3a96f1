// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::cost {
namespace {

void add(const TensorWork& more, TensorWork& work) {
  work.operators += more.operators;
  work.values += more.values;
}

}  // namespace

GradientStatistics statistics_of(const Framework& framework, graph::Optimizer optimizer,
                                 int workers) {
  GradientStatistics sum = framework.statistics;
  if (optimizer == graph::Optimizer::Adam || optimizer == graph::Optimizer::AdamW) {
    add(framework.preconditioned.hook, sum.hook);
    add(framework.preconditioned.after, sum.after);
    add(framework.preconditioned.single, sum.single);
  }
  if (workers == 1) add(sum.single, sum.after);
  return sum;
}

namespace {

// "pytorch-1.11" and "pytorch-1.7.1" are no rows of their own: which row they are, or "".
std::string version_hint(std::string_view name) {
  constexpr std::string_view kOne = "pytorch-1.";
  constexpr std::string_view kTwo = "pytorch-2";
  if (name.starts_with(kTwo)) return "; PyTorch 2.x is 'pytorch'";
  if (!name.starts_with(kOne)) return "";
  int minor = -1;
  const char* const begin = name.data() + kOne.size();
  std::from_chars(begin, name.data() + name.size(), minor);
  if (minor < 0) return "";
  const char* row = minor <= 9    ? "pytorch-1.9"
                    : minor == 10 ? "pytorch-1.10"
                    : minor == 11 ? "pytorch-1"
                                  : "pytorch-1.12";
  return "; PyTorch 1." + std::to_string(minor) + " is '" + row + "'";
}

}  // namespace

const Framework& framework_named(std::span<const Framework> frameworks, std::string_view name) {
  const auto found = std::find_if(frameworks.begin(), frameworks.end(),
                                  [&](const Framework& row) { return row.name == name; });
  if (found != frameworks.end()) return *found;
  std::vector<std::string> names;
  for (const Framework& row : frameworks) names.push_back(row.name);
  const std::string version = version_hint(name);
  throw Error(ErrorKind::NotFound, "unknown framework '" + printable(name) + "'" +
                                       (version.empty() ? did_you_mean(name, names) : version));
}

void put(Framework framework, std::vector<Framework>& frameworks) {
  const auto found = std::find_if(frameworks.begin(), frameworks.end(),
                                  [&](const Framework& row) { return row.name == framework.name; });
  if (found == frameworks.end()) {
    frameworks.push_back(std::move(framework));
  } else {
    *found = std::move(framework);
  }
}

}  // namespace foretrain::cost
