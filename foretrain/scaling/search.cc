// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "foretrain/scaling/gaussian_process.h"

namespace foretrain::scaling {
namespace {

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// The first points: one drawn, then each time that of a few drawn ones which is farthest from all
// before.
std::vector<std::size_t> first_points(const SearchSpace& space, const SearchOptions& options) {
  constexpr int kDrawn = 20;
  std::mt19937_64 engine(options.seed);
  const std::size_t all = space.points.size();
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(options.first, all)) {
    std::size_t best = all;
    double farthest = -1;
    for (int i = 0; i < (chosen.empty() ? 1 : kDrawn); ++i) {
      const auto drawn = static_cast<std::size_t>(engine() % all);
      double nearest = std::numeric_limits<double>::infinity();
      for (const std::size_t other : chosen) {
        const double apart = squared_distance(space.coordinates[drawn], space.coordinates[other]);
        nearest = std::min(nearest, drawn == other ? -2 : apart);
      }
      if (nearest <= farthest) continue;
      farthest = nearest;
      best = drawn;
    }
    if (best < all) chosen.push_back(best);
  }
  return chosen;
}

std::vector<bool> tried_points(const SearchSpace& space, const std::vector<Tried>& history) {
  std::vector<bool> tried(space.points.size());
  for (const Tried& one : history) tried[one.point] = true;
  return tried;
}

// A fixed order of all points, by the seed.
std::optional<Proposal> draw(const SearchSpace& space, const std::vector<bool>& tried,
                             const SearchOptions& options) {
  std::vector<std::size_t> order(space.points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 engine(options.seed);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(engine() % i)]);
  }
  for (const std::size_t point : order) {
    if (!tried[point]) return Proposal{point, {}};
  }
  return std::nullopt;
}

double log_price(const SearchSpace& space, std::size_t point, const SearchOptions& options) {
  if (!options.price) return 0;
  return std::log(number_in(space.points[point][*options.price]).value_or(1));
}

// What a point promises: its expected improvement of the logarithm, times the probability that it
// keeps the deadline.
class Promise {
 public:
  Promise(const SearchSpace& space, const std::vector<Tried>& history, const SearchOptions& options)
      : space_(space), options_(options), process_(process_of(space, history)) {
    // Before anything has kept the deadline the mean of what was seen stands in for the best.
    const auto best = best_of(space, history, options);
    double sum = 0;
    double count = 0;
    for (const Tried& one : history) {
      if (!one.time_s) continue;
      sum += std::log(goal_of(space, one, options));
      count += 1;
    }
    best_ = best ? std::log(goal_of(space, history[*best], options)) : sum / count;
  }

  double of(std::size_t point) const {
    Belief belief = process_.at(space_.coordinates[point]);
    double keeps = 1;
    if (options_.deadline_s && belief.deviation > 0) {
      keeps = normal_share((std::log(*options_.deadline_s) - belief.mean) / belief.deviation);
    }
    belief.mean += log_price(space_, point, options_);
    return keeps * expected_improvement(belief, best_);
  }

 private:
  // Of the logarithm of the time.
  static GaussianProcess process_of(const SearchSpace& space, const std::vector<Tried>& history) {
    std::vector<std::vector<double>> points;
    std::vector<double> values;
    for (const Tried& one : history) {
      if (!one.time_s) continue;
      points.push_back(space.coordinates[one.point]);
      values.push_back(std::log(*one.time_s));
    }
    return {std::move(points), values};
  }

  const SearchSpace& space_;
  const SearchOptions& options_;
  GaussianProcess process_;
  double best_ = 0;
};

}  // namespace

double goal_of(const SearchSpace& space, const Tried& tried, const SearchOptions& options) {
  return *tried.time_s * std::exp(log_price(space, tried.point, options));
}

std::optional<std::size_t> best_of(const SearchSpace& space, const std::vector<Tried>& history,
                                   const SearchOptions& options) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (!history[i].time_s) continue;
    if (options.deadline_s && *history[i].time_s > *options.deadline_s) continue;
    if (!best || goal_of(space, history[i], options) < goal_of(space, history[*best], options)) {
      best = i;
    }
  }
  return best;
}

std::optional<Proposal> next_point(const SearchSpace& space, const std::vector<Tried>& history,
                                   const SearchOptions& options) {
  if (history.size() >= std::min(options.most, space.points.size())) return std::nullopt;
  const std::vector<bool> tried = tried_points(space, history);
  if (options.random) return draw(space, tried, options);
  for (const std::size_t point : first_points(space, options)) {
    if (!tried[point]) return Proposal{point, {}};
  }
  const bool any = std::any_of(history.begin(), history.end(),
                               [](const Tried& one) { return one.time_s.has_value(); });
  if (!any) return draw(space, tried, options);
  const Promise promise(space, history, options);
  Proposal best{space.points.size(), -1};
  for (std::size_t point = 0; point < space.points.size(); ++point) {
    if (tried[point]) continue;
    const double improvement = promise.of(point);
    if (improvement > *best.improvement) best = {point, improvement};
  }
  if (best.point == space.points.size()) return draw(space, tried, options);  // none promises
  // Of a logarithm; as a share of the best.
  best.improvement = 1 - std::exp(-*best.improvement);
  const bool found = best_of(space, history, options).has_value();
  if (found && history.size() >= options.least && *best.improvement < options.stop) {
    return std::nullopt;
  }
  return best;
}

}  // namespace foretrain::scaling
