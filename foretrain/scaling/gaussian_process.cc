// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/gaussian_process.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace foretrain::scaling {
namespace {

constexpr std::array kLengths{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4};
constexpr std::array kNoises{1e-4, 1e-3, 1e-2, 1e-1};
constexpr int kPasses = 2;  // over the dimensions, one after another

double distance(std::span<const double> a, std::span<const double> b,
                const std::vector<double>& lengths) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double step = (a[i] - b[i]) / lengths[i];
    sum += step * step;
  }
  return std::sqrt(sum);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

double matern52(double distance) {
  const double d = std::sqrt(5.0) * distance;
  return (1 + d + d * d / 3) * std::exp(-d);
}

double normal_share(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double expected_improvement(const Belief& belief, double best) {
  if (belief.deviation <= 0) return std::max(0.0, best - belief.mean);
  const double z = (best - belief.mean) / belief.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return belief.deviation * (z * normal_share(z) + density);
}

GaussianProcess::GaussianProcess(std::vector<std::vector<double>> points,
                                 const std::vector<double>& values)
    : points_(std::move(points)), values_(values) {
  assert(!points_.empty() && points_.size() == values.size());
  const auto count = static_cast<double>(values.size());
  mean_ = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double square = 0;
  for (const double value : values) square += (value - mean_) * (value - mean_) / count;
  deviation_ = square > 1e-18 ? std::sqrt(square) : 1;
  for (double& value : values_) value = (value - mean_) / deviation_;
  choose_scales();
  factor_ = factor(scales_);
  assert(factor_);
  weights_ = factor_->solve(values_);
}

std::optional<Cholesky> GaussianProcess::factor(const Scales& scales) const {
  const std::size_t count = points_.size();
  std::vector<double> matrix(count * count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      matrix[i * count + j] = matern52(distance(points_[i], points_[j], scales.lengths));
    }
    matrix[i * count + i] += scales.noise;
  }
  return Cholesky::of(std::move(matrix), count);
}

// Without the constant.
double GaussianProcess::log_likelihood(const Scales& scales) const {
  const auto found = factor(scales);
  if (!found) return -std::numeric_limits<double>::infinity();
  return -dot(values_, found->solve(values_)) / 2 - found->log_determinant() / 2;
}

void GaussianProcess::choose_scales() {
  const std::size_t dimensions = points_.front().size();
  double best = -std::numeric_limits<double>::infinity();
  const auto consider = [&](const Scales& scales) {
    const double likelihood = log_likelihood(scales);
    if (likelihood <= best) return;
    best = likelihood;
    scales_ = scales;
  };
  scales_ = {std::vector<double>(dimensions, 0.8), 1e-2};
  for (const double noise : kNoises) {
    for (const double length : kLengths) consider({std::vector<double>(dimensions, length), noise});
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      for (const double length : kLengths) {
        Scales scales = scales_;
        scales.lengths[d] = length;
        consider(scales);
      }
    }
    for (const double noise : kNoises) consider({scales_.lengths, noise});
  }
}

Belief GaussianProcess::at(std::span<const double> point) const {
  std::vector<double> near;
  for (const std::vector<double>& one : points_) {
    near.push_back(matern52(distance(one, point, scales_.lengths)));
  }
  const std::vector<double> half = factor_->half(near);
  const double variance = std::max(0.0, 1 - dot(half, half));
  return {mean_ + deviation_ * dot(near, weights_), deviation_ * std::sqrt(variance)};
}

}  // namespace foretrain::scaling
