// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/sched/detail/levels.h"
#include "foretrain/sched/detail/policies.h"

namespace foretrain::sched {
namespace {

constexpr std::size_t kLevels = 64;

// The distinct quantiles of sorted numbers.
std::vector<double> quantile_levels(const std::vector<double>& sorted) {
  std::vector<double> levels;
  for (std::size_t i = 1; i <= kLevels; ++i) {
    const double level = sorted[i * (sorted.size() - 1) / kLevels];
    if (level > 0 && (levels.empty() || level > levels.back())) levels.push_back(level);
  }
  return levels;
}

// The Gittins index of a job that has had `attained` service: the largest ratio, over how much
// more it may be given, of the chance that it ends to the service that it will take.
//
//   max over d of  P(S <= a + d | S > a) / E[min(S - a, d) | S > a]
//
// S as often as in `sorted`; `a + d` is one of `levels`.
double gittins_index(const std::vector<double>& sorted, double attained,
                     const std::vector<double>& levels) {
  const auto first = std::upper_bound(sorted.begin(), sorted.end(), attained);
  auto next = first;
  double served = 0;  // of those that end by then
  double best = 0;
  for (const double level : levels) {
    if (level <= attained) continue;
    for (; next != sorted.end() && *next <= level; ++next) served += *next - attained;
    const auto ended = static_cast<double>(next - first);
    const double taken = served + static_cast<double>(sorted.end() - next) * (level - attained);
    if (taken > 0) best = std::max(best, ended / taken);
  }
  return best;
}

}  // namespace

// The job with the highest Gittins index of its attained device time goes first; the index is
// taken anew at 64 quantiles of the device times that jobs are known to need.
// Sources: Gittins 1979; Gu et al., Tiresias, NSDI 2019 (2D-Gittins).
Policy gittins(const PolicyOptions& options) {
  if (options.history.empty()) {
    throw Error(ErrorKind::BadInput,
                "gittins needs the durations of past jobs; the jobs of this trace have none");
  }
  std::vector<double> sorted = options.history;
  std::sort(sorted.begin(), sorted.end());
  Levels levels{quantile_levels(sorted), {}, true};
  levels.ranks.push_back(-gittins_index(sorted, 0, levels.limits));
  for (const double limit : levels.limits) {
    levels.ranks.push_back(-gittins_index(sorted, limit, levels.limits));
  }
  return by_level(std::move(levels));
}

}  // namespace foretrain::sched
