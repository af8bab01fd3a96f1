// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/detail/host_drift.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace foretrain::measured {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

double determinant(const Matrix& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// By Cramer's rule; zero where there is no single solution.
Vector solve(const Matrix& m, const Vector& right) {
  Vector solution{};
  const double all = determinant(m);
  if (!(std::abs(all) > 0)) return solution;
  for (std::size_t i = 0; i < right.size(); ++i) {
    Matrix replaced = m;
    for (std::size_t row = 0; row < right.size(); ++row) replaced[row][i] = right[row];
    solution[i] = determinant(replaced) / all;
  }
  return solution;
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

HostDrift find_host_drift(std::span<const ShortOperator> operators) {
  constexpr std::size_t kFewest = 4;
  constexpr int kRounds = 50;
  constexpr double kLeast = 2e-6;  // s; smaller deviations count alike
  constexpr double kRidge = 1e-9;  // where all do the same work, it counts as the host's
  if (operators.size() < kFewest) return {};
  double last = 0;
  double most = 0;
  for (const ShortOperator& one : operators) {
    last = std::max(last, one.number);
    most = std::max(most, one.work);
  }
  if (!(last > 0) || !(most > 0)) return {};
  Vector line{};
  for (int round = 0; round < kRounds; ++round) {
    Matrix m{};
    Vector right{};
    for (const ShortOperator& one : operators) {
      const Vector x{1, one.number / last, one.work / most};
      const double off = std::abs(one.measured_s - dot(line, x));
      const double weight = round == 0 ? 1 : kLeast / std::max(off, kLeast);
      for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < x.size(); ++j) m[i][j] += weight * x[i] * x[j];
        right[i] += weight * x[i] * one.measured_s;
      }
    }
    m[2][2] += kRidge * m[0][0];
    line = solve(m, right);
  }
  return {line[0], line[1] / last};
}

}  // namespace foretrain::measured
