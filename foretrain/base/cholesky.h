// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace foretrain {

// A symmetric positive definite matrix A as L L', L lower triangular: systems with A are solved
// from it, and A's determinant is read off its diagonal.
class Cholesky {
 public:
  // `a`: `order` times `order` numbers, row by row, of which those on and below the diagonal are
  // read. Absent where A is not positive definite to the precision of its numbers.
  static std::optional<Cholesky> of(std::vector<double> a, std::size_t order);

  std::vector<double> solve(std::span<const double> b) const;  // A x = b
  std::vector<double> half(std::span<const double> b) const;   // L x = b
  double log_determinant() const;                              // of A
  std::size_t order() const { return order_; }

 private:
  Cholesky(std::vector<double> lower, std::size_t order)
      : lower_(std::move(lower)), order_(order) {}
  double at(std::size_t i, std::size_t j) const { return lower_[i * order_ + j]; }

  std::vector<double> lower_;
  std::size_t order_ = 0;
};

}  // namespace foretrain
