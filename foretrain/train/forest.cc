// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/forest.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <random>

namespace foretrain::train {
namespace {

using Rows = std::vector<std::size_t>;

// Whole numbers below `count`, the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }

 private:
  std::mt19937_64 engine_;
};

struct Sums {
  double weight = 0;
  double target = 0;

  void add(const BoostData& data, std::size_t row) {
    weight += data.weights[row];
    target += data.weights[row] * data.targets[row];
  }
  // What a part's mean takes off the sum of squares.
  double gain() const { return weight > 0 ? target * target / weight : 0; }
};

struct Division {
  std::int32_t feature = -1;
  float threshold = 0;
  double gain = 0;
};

float feature_of(const BoostData& data, std::size_t row, std::size_t feature) {
  return static_cast<float>(data.features[row][feature]);
}

// Between two neighbours: above the lower one, not above the other.
float between(float low, float high) {
  const float middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

Sums sums_of(const BoostData& data, const Rows& rows) {
  Sums sums;
  for (const std::size_t row : rows) sums.add(data, row);
  return sums;
}

void try_feature(const BoostData& data, Rows rows, std::size_t feature, std::size_t least_rows,
                 Division& best) {
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return feature_of(data, a, feature) < feature_of(data, b, feature);
  });
  const Sums all = sums_of(data, rows);
  Sums left;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    left.add(data, rows[i]);
    const float low = feature_of(data, rows[i], feature);
    const float high = feature_of(data, rows[i + 1], feature);
    if (low == high || i + 1 < least_rows || rows.size() - i - 1 < least_rows) continue;
    const Sums right{all.weight - left.weight, all.target - left.target};
    const double gain = left.gain() + right.gain() - all.gain();
    if (gain > best.gain) best = {static_cast<std::int32_t>(feature), between(low, high), gain};
  }
}

Division best_division(const BoostData& data, const Rows& rows, const ForestOptions& options,
                       Draws& draws) {
  std::vector<std::size_t> features(data.features.front().size());
  std::iota(features.begin(), features.end(), 0);
  const auto wanted =
      static_cast<std::size_t>(std::ceil(options.columns * static_cast<double>(features.size())));
  for (std::size_t i = 0; i < std::min(wanted, features.size()); ++i) {
    std::swap(features[i], features[i + draws.below(features.size() - i)]);
  }
  features.resize(std::clamp<std::size_t>(wanted, 1, features.size()));
  std::sort(features.begin(), features.end());
  // What is left of rounding is no gain.
  Division best{.gain = 1e-12 * (1 + std::abs(sums_of(data, rows).gain()))};
  for (const std::size_t feature : features) {
    try_feature(data, rows, feature, std::max<std::size_t>(1, options.least_rows), best);
  }
  return best;
}

// Level by level: children follow each other.
void grow_tree(const BoostData& data, Rows all, const ForestOptions& options, Draws& draws,
               learn::Trees& trees) {
  struct Pending {
    std::size_t node;
    std::size_t depth;
    Rows rows;
  };
  trees.roots.push_back(static_cast<std::int32_t>(trees.nodes.size()));
  trees.nodes.emplace_back();
  std::deque<Pending> pending;
  pending.push_back({trees.nodes.size() - 1, 0, std::move(all)});
  while (!pending.empty()) {
    const Pending one = std::move(pending.front());
    pending.pop_front();
    Division division;
    if (one.depth < options.depth && one.rows.size() >= 2 * options.least_rows) {
      division = best_division(data, one.rows, options, draws);
    }
    if (division.feature < 0) {
      const Sums sums = sums_of(data, one.rows);
      const double mean = sums.target / sums.weight;
      trees.nodes[one.node] = {-1, static_cast<float>(mean / static_cast<double>(options.trees)),
                               0};
      continue;
    }
    const std::size_t child = trees.nodes.size();
    trees.nodes[one.node] = {division.feature, division.threshold,
                             static_cast<std::int32_t>(child)};
    trees.nodes.resize(child + 2);
    Pending left{child, one.depth + 1, {}};
    Pending right{child + 1, one.depth + 1, {}};
    for (const std::size_t row : one.rows) {
      const auto feature = static_cast<std::size_t>(division.feature);
      const bool below = feature_of(data, row, feature) < division.threshold;
      (below ? left : right).rows.push_back(row);
    }
    pending.push_back(std::move(left));
    pending.push_back(std::move(right));
  }
}

}  // namespace

learn::Trees grow_forest(const BoostData& data, const ForestOptions& options) {
  Draws draws(options.seed);
  learn::Trees trees;
  for (std::size_t tree = 0; tree < options.trees; ++tree) {
    Rows rows(data.features.size());
    std::iota(rows.begin(), rows.end(), 0);
    if (options.trees > 1) {
      for (std::size_t& row : rows) row = draws.below(data.features.size());
    }
    grow_tree(data, std::move(rows), options, draws, trees);
  }
  return trees;
}

}  // namespace foretrain::train
