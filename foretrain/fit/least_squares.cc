// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/least_squares.h"

#include <algorithm>
#include <cmath>

namespace foretrain::fit {
namespace {

using Vector = std::vector<double>;

constexpr double kDifference = 1e-3;  // of a logarithm, for derivatives

double squares(const Vector& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Solves m x = right for a symmetric positive definite m, by Cholesky's decomposition.
Vector solve(std::vector<Vector> m, Vector right) {
  const std::size_t n = right.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = m[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= m[i][k] * m[j][k];
      m[i][j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / m[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= m[i][k] * right[k];
    right[i] /= m[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) right[i] -= m[k][i] * right[k];
    right[i] /= m[i][i];
  }
  return right;
}

class Search {
 public:
  Search(const std::vector<Variable>& variables, const ResidualFunction& residuals)
      : variables_(variables), residuals_(residuals) {
    for (const Variable& v : variables)
      at_.push_back(std::clamp(std::log(v.start), std::log(v.least), std::log(v.most)));
    now_ = at(at_);
  }

  // One step; false where none makes the sum smaller.
  bool step() {
    differentiate();
    for (int attempt = 0; attempt < 8; ++attempt, damping_ *= 8) {
      const Vector next = moved();
      const Vector there = at(next);
      const double before = squares(now_);
      if (!(squares(there) < before)) continue;
      const bool worthwhile = squares(there) < (1 - 1e-4) * before;
      at_ = next;
      now_ = there;
      damping_ /= 4;
      return worthwhile;
    }
    return false;
  }

  Vector values() const { return exponentials(at_); }

 private:
  static Vector exponentials(const Vector& logs) {
    Vector values(logs.size());
    std::transform(logs.begin(), logs.end(), values.begin(),
                   [](double log) { return std::exp(log); });
    return values;
  }

  Vector at(const Vector& logs) const { return residuals_(exponentials(logs)); }

  bool rests(std::size_t i) const {
    const double slope = product(columns_[i], now_);  // of half the sum
    const bool lowest = at_[i] <= std::log(variables_[i].least);
    const bool highest = at_[i] >= std::log(variables_[i].most);
    return (lowest && slope >= 0) || (highest && slope <= 0);
  }

  void differentiate() {
    columns_.clear();
    for (std::size_t i = 0; i < at_.size(); ++i) {
      Vector beside = at_;
      beside[i] += kDifference;
      Vector column = at(beside);
      for (std::size_t r = 0; r < column.size(); ++r)
        column[r] = (column[r] - now_[r]) / kDifference;
      columns_.push_back(std::move(column));
    }
    free_.clear();
    for (std::size_t i = 0; i < at_.size(); ++i) {
      if (!rests(i)) free_.push_back(i);
    }
  }

  // Where a damped step leads.
  Vector moved() const {
    const std::size_t n = free_.size();
    std::vector<Vector> normal(n, Vector(n));
    Vector right(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        normal[i][j] = normal[j][i] = product(columns_[free_[i]], columns_[free_[j]]);
      right[i] = -product(columns_[free_[i]], now_);
    }
    for (std::size_t i = 0; i < n; ++i) normal[i][i] += damping_ * (normal[i][i] + 1e-9);
    const Vector change = solve(std::move(normal), std::move(right));
    Vector next = at_;
    for (std::size_t i = 0; i < n; ++i) {
      const Variable& v = variables_[free_[i]];
      next[free_[i]] = std::clamp(next[free_[i]] + change[i], std::log(v.least), std::log(v.most));
    }
    return next;
  }

  const std::vector<Variable>& variables_;
  const ResidualFunction& residuals_;
  Vector at_;                    // logarithms
  Vector now_;                   // residuals there
  std::vector<Vector> columns_;  // their derivatives, by variable
  std::vector<std::size_t> free_;
  double damping_ = 1e-2;
};

}  // namespace

std::vector<double> least_squares(const std::vector<Variable>& variables, int rounds,
                                  const ResidualFunction& residuals) {
  if (variables.empty()) return {};
  Search search(variables, residuals);
  for (int round = 0; round < rounds && search.step(); ++round) {
  }
  return search.values();
}

}  // namespace foretrain::fit
