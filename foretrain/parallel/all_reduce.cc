// SPDX-License-Identifier: Apache-2.0
// One all-reduce of all gradients when backward has ended.
#include <limits>

#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/reduce_buckets.h"
#include "foretrain/parallel/detail/strategies.h"
#include "foretrain/parallel/experts.h"

namespace foretrain::parallel {

void add_all_reduce(graph::Graph& step, const Resolved& resolved) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  add_buckets(step, graph::Kind::AllReduce, graph::make_buckets(step, {kAll, kAll}));
  sum_experts_apart(step, resolved);
}

ExchangePlan plan_all_reduce(const graph::Bound& step, const Resolved& resolved) {
  return reduce_buckets(step, resolved);
}

}  // namespace foretrain::parallel
