// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/cholesky.h"

#include <cassert>
#include <cmath>

namespace foretrain {

std::optional<Cholesky> Cholesky::of(std::vector<double> a, std::size_t order) {
  assert(a.size() == order * order);
  constexpr double kLeast = 1e-14;  // of a pivot, against what stood on the diagonal
  for (std::size_t j = 0; j < order; ++j) {
    const double before = a[j * order + j];
    double pivot = before;
    for (std::size_t k = 0; k < j; ++k) pivot -= a[j * order + k] * a[j * order + k];
    if (!(pivot > kLeast * before) || !(pivot > 0)) return std::nullopt;
    const double root = std::sqrt(pivot);
    a[j * order + j] = root;
    for (std::size_t i = j + 1; i < order; ++i) {
      double sum = a[i * order + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * order + k] * a[j * order + k];
      a[i * order + j] = sum / root;
    }
  }
  return Cholesky(std::move(a), order);
}

std::vector<double> Cholesky::half(std::span<const double> b) const {
  assert(b.size() == order_);
  std::vector<double> x(b.begin(), b.end());
  for (std::size_t i = 0; i < order_; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
    x[i] /= at(i, i);
  }
  return x;
}

std::vector<double> Cholesky::solve(std::span<const double> b) const {
  std::vector<double> x = half(b);
  for (std::size_t i = order_; i-- > 0;) {
    for (std::size_t k = i + 1; k < order_; ++k) x[i] -= at(k, i) * x[k];
    x[i] /= at(i, i);
  }
  return x;
}

double Cholesky::log_determinant() const {
  double sum = 0;
  for (std::size_t i = 0; i < order_; ++i) sum += 2 * std::log(at(i, i));
  return sum;
}

}  // namespace foretrain
