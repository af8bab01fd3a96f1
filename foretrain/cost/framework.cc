// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework.h"

#include <algorithm>
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

const Framework& framework_named(std::span<const Framework> frameworks, std::string_view name) {
  const auto found = std::find_if(frameworks.begin(), frameworks.end(),
                                  [&](const Framework& row) { return row.name == name; });
  if (found != frameworks.end()) return *found;
  std::vector<std::string> names;
  for (const Framework& row : frameworks) names.push_back(row.name);
  throw Error(ErrorKind::NotFound,
              "unknown framework '" + printable(name) + "'" + did_you_mean(name, names));
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
