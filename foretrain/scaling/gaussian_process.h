// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "foretrain/base/cholesky.h"

namespace foretrain::scaling {

// What a Gaussian process says of a point.
struct Belief {
  double mean = 0;
  double deviation = 0;
};

// Values at points of the unit cube as a Gaussian process with the Matern 5/2 kernel, a length
// scale for each dimension and noise. The scales and the noise are those of a small grid that make
// the values most probable; values are standardised.
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006.
class GaussianProcess {
 public:
  // At least one point; values as many as points.
  GaussianProcess(std::vector<std::vector<double>> points, const std::vector<double>& values);

  // Of the value without noise.
  Belief at(std::span<const double> point) const;

 private:
  struct Scales {
    std::vector<double> lengths;
    double noise = 0;  // a variance
  };
  std::optional<Cholesky> factor(const Scales& scales) const;
  double log_likelihood(const Scales& scales) const;
  void choose_scales();

  std::vector<std::vector<double>> points_;
  std::vector<double> values_;  // standardised
  double mean_ = 0;
  double deviation_ = 1;
  Scales scales_;
  std::optional<Cholesky> factor_;
  std::vector<double> weights_;
};

// Matern 5/2 at a distance in length scales: (1 + d + d^2 / 3) exp(-d), d = sqrt(5) times it.
double matern52(double distance);

// How much below `best` a value is expected to be, where it is: z = (best - mean) / deviation,
// deviation (z Phi(z) + phi(z)).
double expected_improvement(const Belief& belief, double best);

// The probability that a normally distributed number is below z.
double normal_share(double z);

}  // namespace foretrain::scaling
