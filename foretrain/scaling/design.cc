// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/design.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "foretrain/base/cholesky.h"
#include "foretrain/base/error.h"
#include "foretrain/base/format.h"

namespace foretrain::scaling {
namespace {

using Features = std::vector<std::vector<double>>;

constexpr int kRounds = 5000;

// Every column with a largest value of 1.
Features scaled(const Features& features) {
  std::vector<double> largest(features.front().size());
  for (const auto& row : features) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      largest[i] = std::max(largest[i], std::abs(row[i]));
    }
  }
  Features result = features;
  for (auto& row : result) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (largest[i] > 0) row[i] /= largest[i];
    }
  }
  return result;
}

class Information {
 public:
  explicit Information(std::size_t order) : order_(order), sums_(order * order) {}

  void add(const std::vector<double>& row, double share) {
    for (std::size_t i = 0; i < order_; ++i) {
      for (std::size_t j = 0; j < order_; ++j) sums_[i * order_ + j] += share * row[i] * row[j];
    }
  }
  void add_to_diagonal(double value) {
    for (std::size_t i = 0; i < order_; ++i) sums_[i * order_ + i] += value;
  }
  std::optional<Cholesky> factor() const { return Cholesky::of(sums_, order_); }

 private:
  std::size_t order_;
  std::vector<double> sums_;
};

double trace_of_inverse(const Cholesky& factor) {
  double trace = 0;
  for (std::size_t i = 0; i < factor.order(); ++i) {
    std::vector<double> unit(factor.order());
    unit[i] = 1;
    for (const double x : factor.half(unit)) trace += x * x;
  }
  return trace;
}

// Each wish times one factor, cut at its cost, such that they spend the budget.
void spend(const std::vector<double>& wishes, const std::vector<double>& costs, double budget,
           std::vector<double>& spent) {
  const auto total = [&](double factor) {
    double sum = 0;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
      spent[i] = std::min(costs[i], factor * wishes[i]);
      sum += spent[i];
    }
    return sum;
  };
  double low = 0;
  double high = 1;
  while (total(high) < budget && high < 1e12) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (total(middle) < budget ? low : high) = middle;
  }
  total(high);
}

double squared_length(const std::vector<double>& x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
}

void check(const std::vector<Candidate>& candidates, double budget) {
  if (candidates.size() > kMostCandidates) {
    throw Error(ErrorKind::BadInput, format("design: %zu candidates are more than the %zu that are "
                                            "weighed against each other; offer fewer",
                                            candidates.size(), kMostCandidates));
  }
  for (const Candidate& one : candidates) {
    const bool sound = one.workers >= 1 && one.fraction > 0 && one.fraction <= 1 && one.cost > 0 &&
                       std::isfinite(one.workers) && std::isfinite(one.cost);
    if (sound) continue;
    throw Error(ErrorKind::BadInput,
                format("design: a run of %g workers, fraction %g and cost %g cannot be; workers "
                       "are 1 or more, fractions above 0 and up to 1, costs above 0",
                       one.workers, one.fraction, one.cost));
  }
  if (!(budget > 0)) throw Error(ErrorKind::BadInput, "design: the budget must be above 0");
}

// The variance that runs of this information leave, a little added to it so that a design which
// does not determine all weights can be compared, too.
double soft_variance(Information information) {
  information.add_to_diagonal(1e-7);
  const auto factor = information.factor();
  return factor ? trace_of_inverse(*factor) : std::numeric_limits<double>::infinity();
}

// Makes the shares whole runs: the large ones first, then what lowers the variance most.
void choose(const Features& rows, const std::vector<double>& costs, double budget, Design& design) {
  Information information(rows.front().size());
  std::vector<bool> taken(rows.size());
  const auto take = [&](std::size_t run) {
    design.runs.push_back(run);
    design.cost += costs[run];
    information.add(rows[run], 1);
    taken[run] = true;
  };
  const auto fits = [&](std::size_t run) {
    return !taken[run] && design.cost + costs[run] <= budget * (1 + 1e-9);
  };
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return design.shares[a] > design.shares[b];
  });
  for (const std::size_t run : order) {
    if (design.shares[run] > kKeptShare && fits(run)) take(run);
  }
  while (true) {
    const double now = soft_variance(information);
    std::size_t best = rows.size();
    double most = 0;
    for (std::size_t run = 0; run < rows.size(); ++run) {
      if (!fits(run)) continue;
      Information more = information;
      more.add(rows[run], 1);
      const double gain = std::log(now / soft_variance(std::move(more))) / costs[run];
      if (!(gain > most)) continue;
      most = gain;
      best = run;
    }
    if (best == rows.size()) break;
    take(best);
  }
}

}  // namespace

std::vector<double> ernest_features(const Candidate& one) {
  return {1, one.fraction / one.workers, std::log(one.workers), one.workers};
}

std::vector<double> optimal_shares(const Features& features, const std::vector<double>& costs,
                                   double budget) {
  const Features rows = scaled(features);
  std::vector<double> spent(rows.size());
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  if (all <= budget) return std::vector<double>(rows.size(), 1);
  spend(costs, costs, budget, spent);
  for (int round = 0; round < kRounds; ++round) {
    Information information(rows.front().size());
    for (std::size_t i = 0; i < rows.size(); ++i) information.add(rows[i], spent[i] / costs[i]);
    information.add_to_diagonal(1e-12);
    const auto factor = information.factor();
    if (!factor) break;
    std::vector<double> wishes(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      wishes[i] = spent[i] * std::sqrt(squared_length(factor->solve(rows[i])) / costs[i]);
    }
    const std::vector<double> before = spent;
    spend(wishes, costs, budget, spent);
    double moved = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      moved = std::max(moved, std::abs(spent[i] - before[i]) / costs[i]);
    }
    if (moved < 1e-9) break;
  }
  std::vector<double> shares;
  for (std::size_t i = 0; i < rows.size(); ++i) shares.push_back(spent[i] / costs[i]);
  return shares;
}

double variance_sum(const Features& features, const std::vector<std::size_t>& runs) {
  const Features rows = scaled(features);
  Information information(rows.front().size());
  for (const std::size_t run : runs) information.add(rows[run], 1);
  const auto factor = information.factor();
  return factor ? trace_of_inverse(*factor) : std::numeric_limits<double>::infinity();
}

Design design_runs(const std::vector<Candidate>& candidates, double budget) {
  check(candidates, budget);
  if (candidates.empty()) throw Error(ErrorKind::BadInput, "design: there is no candidate");
  Features features;
  std::vector<double> costs;
  for (const Candidate& one : candidates) {
    features.push_back(ernest_features(one));
    costs.push_back(one.cost);
  }
  Design design;
  design.shares = optimal_shares(features, costs, budget);
  choose(scaled(features), costs, budget, design);
  std::sort(design.runs.begin(), design.runs.end());
  design.variance = variance_sum(features, design.runs);
  if (std::isinf(design.variance)) {
    throw Error(ErrorKind::BadInput,
                format("design: a budget of %g does not allow four runs that tell Ernest's "
                       "features apart; raise --budget, or offer more workers and fractions",
                       budget));
  }
  return design;
}

}  // namespace foretrain::scaling
