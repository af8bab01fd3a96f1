// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/linear.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "foretrain/base/cholesky.h"

namespace foretrain::train {
namespace {

// Weighted sums of products of columns, the first of which is 1 and the last the target: what all
// least squares need, whatever columns they use.
class Products {
 public:
  explicit Products(std::size_t columns) : size_(columns + 2), sums_(size_ * size_) {}

  void add(const std::vector<double>& row, double target, double weight) {
    std::vector<double> all{1};
    all.insert(all.end(), row.begin(), row.end());
    all.push_back(target);
    for (std::size_t i = 0; i < size_; ++i) {
      const double scaled = weight * all[i];
      for (std::size_t j = 0; j <= i; ++j) sums_[i * size_ + j] += scaled * all[j];
    }
  }
  void subtract(const Products& other) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] -= other.sums_[i];
  }

  // Columns count from 1; 0 is the constant.
  double at(std::size_t i, std::size_t j) const {
    return i >= j ? sums_[i * size_ + j] : sums_[j * size_ + i];
  }
  double with_target(std::size_t i) const { return at(size_ - 1, i); }
  std::size_t columns() const { return size_ - 2; }
  double weight() const { return at(0, 0); }

 private:
  std::size_t size_;
  std::vector<double> sums_;
};

Products products_of(const BoostData& data) {
  Products sums(data.features.front().size());
  for (std::size_t i = 0; i < data.features.size(); ++i) {
    sums.add(data.features[i], data.targets[i], data.weights[i]);
  }
  return sums;
}

double mean_of(const Products& sums, std::size_t column) {
  return sums.at(column, 0) / sums.weight();
}

// Of a column around its mean; 0 where it does not vary.
double deviation_of(const Products& sums, std::size_t column) {
  const double mean = mean_of(sums, column);
  const double square = sums.at(column, column) / sums.weight() - mean * mean;
  return square > 1e-20 * (1 + mean * mean) ? std::sqrt(square) : 0;
}

// Ridge over some columns; `columns` count from 1.
learn::LinearModel solve_ridge(const Products& sums, const std::vector<std::size_t>& columns,
                               double strength) {
  const std::size_t count = columns.size();
  std::vector<double> mean(count);
  std::vector<double> deviation(count);
  for (std::size_t i = 0; i < count; ++i) {
    mean[i] = mean_of(sums, columns[i]);
    deviation[i] = deviation_of(sums, columns[i]);
  }
  const double target = sums.with_target(0) / sums.weight();
  std::vector<double> matrix(count * count);
  std::vector<double> right(count);
  for (std::size_t i = 0; i < count; ++i) {
    matrix[i * count + i] = 1;  // of a column that does not vary: its weight becomes 0
    if (deviation[i] == 0) continue;
    for (std::size_t j = 0; j <= i; ++j) {
      if (deviation[j] == 0) continue;
      const double product = sums.at(columns[i], columns[j]) / sums.weight() - mean[i] * mean[j];
      matrix[i * count + j] = product / (deviation[i] * deviation[j]);
    }
    matrix[i * count + i] += std::max(strength, 1e-10);  // equal columns share their weight
    right[i] = (sums.with_target(columns[i]) / sums.weight() - mean[i] * target) / deviation[i];
  }
  learn::LinearModel model{target, std::vector<double>(sums.columns())};
  const auto factor = Cholesky::of(matrix, count);
  if (!factor) return model;
  const std::vector<double> weights = factor->solve(right);
  for (std::size_t i = 0; i < count; ++i) {
    if (deviation[i] == 0) continue;
    model.weights[columns[i] - 1] = weights[i] / deviation[i];
    model.intercept -= weights[i] / deviation[i] * mean[i];
  }
  return model;
}

// Sums of products scaled so that every column, the constant included, has length 1.
struct Scaled {
  std::size_t count = 0;
  std::vector<double> matrix{};
  std::vector<double> right{};
  std::vector<double> length{};  // 0 for a column of zeros

  explicit Scaled(const Products& sums)
      : count(sums.columns() + 1), matrix(count * count), right(count), length(count) {
    for (std::size_t i = 0; i < count; ++i) length[i] = std::sqrt(std::max(0.0, sums.at(i, i)));
    for (std::size_t i = 0; i < count; ++i) {
      if (length[i] == 0) continue;
      right[i] = sums.with_target(i) / length[i];
      for (std::size_t j = 0; j < count; ++j) {
        if (length[j] > 0) matrix[i * count + j] = sums.at(i, j) / (length[i] * length[j]);
      }
    }
  }

  learn::LinearModel model_of(const std::vector<double>& x) const {
    learn::LinearModel model;
    model.intercept = length[0] > 0 ? x[0] / length[0] : 0;
    for (std::size_t i = 1; i < count; ++i) {
      model.weights.push_back(length[i] > 0 ? x[i] / length[i] : 0);
    }
    return model;
  }
};

std::vector<double> solve_among(const Scaled& system, const std::vector<std::size_t>& active) {
  constexpr double kNearlyEqual = 1e-10;
  const std::size_t count = active.size();
  std::vector<double> matrix(count * count);
  std::vector<double> right(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      matrix[i * count + j] = system.matrix[active[i] * system.count + active[j]];
    }
    matrix[i * count + i] += kNearlyEqual;
    right[i] = system.right[active[i]];
  }
  const auto factor = Cholesky::of(matrix, count);
  return factor ? factor->solve(right) : std::vector<double>(count);
}

// How the sum of squares falls with each variable.
double slope_of(const Scaled& system, const std::vector<double>& x, std::size_t i) {
  double slope = system.right[i];
  for (std::size_t j = 0; j < system.count; ++j)
    slope -= system.matrix[i * system.count + j] * x[j];
  return slope;
}

// Moves from x to what `active` alone would be, as far as nothing becomes negative; what becomes 0
// leaves them. True where the way was free.
bool move_towards(const std::vector<double>& wanted, std::vector<std::size_t>& active,
                  std::vector<double>& x) {
  double share = 1;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const double now = x[active[i]];
    if (wanted[i] <= 0) share = std::min(share, now / (now - wanted[i]));
  }
  for (std::size_t i = 0; i < active.size(); ++i) {
    x[active[i]] += share * (wanted[i] - x[active[i]]);
  }
  const std::size_t before = active.size();
  std::erase_if(active, [&](std::size_t i) {
    if (x[i] > 1e-14) return false;
    x[i] = 0;
    return true;
  });
  return active.size() == before;
}

// One value of what each row of a fold says, when the model was fitted on the others.
double square_of_fold(const Products& fold, const std::vector<std::size_t>& columns,
                      const learn::LinearModel& model) {
  // |y - Xw|^2 from the sums of products alone.
  std::vector<std::size_t> all{0};
  all.insert(all.end(), columns.begin(), columns.end());
  const auto weight = [&](std::size_t column) {
    return column == 0 ? model.intercept : model.weights[column - 1];
  };
  const std::size_t target = fold.columns() + 1;
  double sum = fold.at(target, target);
  for (const std::size_t i : all) {
    sum -= 2 * weight(i) * fold.with_target(i);
    for (const std::size_t j : all) sum += weight(i) * weight(j) * fold.at(i, j);
  }
  return sum;
}

constexpr double kStepwiseStrength = 1e-6;

}  // namespace

learn::LinearModel fit_ridge(const BoostData& data, double strength) {
  const Products sums = products_of(data);
  std::vector<std::size_t> columns(sums.columns());
  std::iota(columns.begin(), columns.end(), 1);
  return solve_ridge(sums, columns, strength);
}

learn::LinearModel fit_ridge(const BoostData& data, double strength,
                             const std::vector<std::size_t>& features) {
  std::vector<std::size_t> columns = features;
  for (std::size_t& column : columns) ++column;  // the constant is the first
  return solve_ridge(products_of(data), columns, strength);
}

learn::LinearModel fit_nonnegative(const BoostData& data) {
  constexpr double kSteep = 1e-10;
  const Scaled system(products_of(data));
  std::vector<double> x(system.count);
  std::vector<std::size_t> active;
  for (std::size_t round = 0; round < 10 * system.count; ++round) {
    std::size_t best = system.count;
    double steepest = kSteep * std::sqrt(1 + system.right[0] * system.right[0]);
    for (std::size_t i = 0; i < system.count; ++i) {
      if (system.length[i] == 0 || std::find(active.begin(), active.end(), i) != active.end()) {
        continue;
      }
      const double slope = slope_of(system, x, i);
      if (slope <= steepest) continue;
      best = i;
      steepest = slope;
    }
    if (best == system.count) break;
    active.push_back(best);
    while (!active.empty() && !move_towards(solve_among(system, active), active, x)) {
    }
    if (std::find(active.begin(), active.end(), best) == active.end()) break;  // it came to nothing
  }
  return system.model_of(x);
}

learn::LinearModel fit_lasso(const BoostData& data, double strength) {
  constexpr int kSweeps = 2000;
  constexpr double kStill = 1e-10;
  const Scaled system(products_of(data));
  const double largest = *std::max_element(system.right.begin(), system.right.end());
  const double penalty = strength * std::max(largest, 0.0);
  std::vector<double> x(system.count);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0;
    for (std::size_t i = 0; i < system.count; ++i) {
      if (system.length[i] == 0) continue;
      const double slope = slope_of(system, x, i) - (i > 0 ? penalty : 0);
      const double next = std::max(0.0, x[i] + slope);  // the diagonal is 1
      moved = std::max(moved, std::abs(next - x[i]));
      x[i] = next;
    }
    if (moved <= kStill * std::max(largest, 1e-300)) break;
  }
  return system.model_of(x);
}

learn::LinearModel fit_stepwise(const BoostData& data, const std::vector<std::size_t>& fold,
                                std::size_t most) {
  constexpr double kGain = 0.01;
  const Products all = products_of(data);
  std::vector<Products> inside(*std::max_element(fold.begin(), fold.end()) + 1,
                               Products(all.columns()));
  for (std::size_t i = 0; i < fold.size(); ++i) {
    inside[fold[i]].add(data.features[i], data.targets[i], data.weights[i]);
  }
  std::vector<Products> outside(inside.size(), all);
  for (std::size_t f = 0; f < inside.size(); ++f) outside[f].subtract(inside[f]);
  const auto error_of = [&](const std::vector<std::size_t>& columns) {
    double sum = 0;
    for (std::size_t f = 0; f < inside.size(); ++f) {
      if (inside[f].weight() <= 0 || outside[f].weight() <= 0) continue;
      sum +=
          square_of_fold(inside[f], columns, solve_ridge(outside[f], columns, kStepwiseStrength));
    }
    return sum;
  };
  std::vector<std::size_t> chosen;
  double error = error_of(chosen);
  while (chosen.size() < most) {
    std::vector<std::size_t> best;
    double least = error * (1 - kGain);
    for (std::size_t column = 1; column <= all.columns(); ++column) {
      if (std::find(chosen.begin(), chosen.end(), column) != chosen.end()) continue;
      std::vector<std::size_t> tried = chosen;
      tried.push_back(column);
      const double square = error_of(tried);
      if (square >= least) continue;
      least = square;
      best = std::move(tried);
    }
    if (best.empty()) break;
    chosen = std::move(best);
    error = least;
  }
  return solve_ridge(all, chosen, kStepwiseStrength);
}

}  // namespace foretrain::train
