// SPDX-License-Identifier: Apache-2.0
// A number from features by one of several kinds of regression, as they are used: fitting lies in
// train/.
#pragma once

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "foretrain/learn/trees.h"

namespace foretrain::learn {

// intercept + weights x: ridge, lasso, stepwise, Ernest's.
struct LinearModel {
  double intercept = 0;
  std::vector<double> weights{};
};

// What features are before a model sees them: (x - mean) / deviation.
struct Standardised {
  std::vector<double> mean{};
  std::vector<double> deviation{};
};

// Support vector regression with a Gaussian kernel, of standardised features:
// offset + sum of weights[i] exp(-gamma |x - vectors[i]|^2).
struct KernelModel {
  Standardised input{};
  double gamma = 1;
  double offset = 0;
  std::vector<std::vector<double>> vectors{};
  std::vector<double> weights{};
};

// Dense layers of standardised features with tanh in between: a small network (MLP) of one output.
struct DenseLayer {
  std::vector<std::vector<double>> weights{};  // a row for each output
  std::vector<double> bias{};
};
struct DenseModel {
  Standardised input{};
  std::vector<DenseLayer> layers{};
};

// Trees: a decision tree, a random forest whose leaves hold their share of the mean, boosted trees.
using Regressor = std::variant<LinearModel, Trees, KernelModel, DenseModel>;

// Features are as many as `is_sound` was asked for.
double evaluate(const Regressor& regressor, std::span<const double> features);

bool is_sound(const Regressor& regressor, std::size_t features);

}  // namespace foretrain::learn
