// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/regressor.h"

#include <algorithm>
#include <cmath>

namespace foretrain::learn {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> standardise(const Standardised& by, std::span<const double> x) {
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = (x[i] - by.mean[i]) / by.deviation[i];
  return result;
}

double value(const LinearModel& model, std::span<const double> x) {
  return model.intercept + dot(model.weights, x);
}

double value(const Trees& trees, std::span<const double> x) { return evaluate(trees, x); }

double value(const KernelModel& model, std::span<const double> features) {
  const std::vector<double> x = standardise(model.input, features);
  double sum = model.offset;
  for (std::size_t i = 0; i < model.vectors.size(); ++i) {
    double distance = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double difference = x[j] - model.vectors[i][j];
      distance += difference * difference;
    }
    sum += model.weights[i] * std::exp(-model.gamma * distance);
  }
  return sum;
}

double value(const DenseModel& model, std::span<const double> features) {
  std::vector<double> x = standardise(model.input, features);
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    const DenseLayer& one = model.layers[layer];
    std::vector<double> next(one.bias.size());
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = one.bias[i] + dot(one.weights[i], x);
      if (layer + 1 < model.layers.size()) next[i] = std::tanh(next[i]);
    }
    x = std::move(next);
  }
  return x.front();
}

bool finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool sound(const Standardised& input, std::size_t features) {
  return input.mean.size() == features && input.deviation.size() == features &&
         finite(input.mean) && finite(input.deviation) &&
         std::all_of(input.deviation.begin(), input.deviation.end(),
                     [](double x) { return x > 0; });
}

bool sound(const LinearModel& model, std::size_t features) {
  return model.weights.size() == features && finite(model.weights) &&
         std::isfinite(model.intercept);
}

bool sound(const Trees& trees, std::size_t features) { return is_sound(trees, features); }

bool sound(const KernelModel& model, std::size_t features) {
  return sound(model.input, features) && model.gamma > 0 && std::isfinite(model.gamma) &&
         std::isfinite(model.offset) && model.vectors.size() == model.weights.size() &&
         finite(model.weights) &&
         std::all_of(model.vectors.begin(), model.vectors.end(), [&](const auto& vector) {
           return vector.size() == features && finite(vector);
         });
}

bool sound(const DenseModel& model, std::size_t features) {
  if (!sound(model.input, features) || model.layers.empty()) return false;
  std::size_t inputs = features;
  for (const DenseLayer& layer : model.layers) {
    if (layer.bias.empty() || layer.weights.size() != layer.bias.size() || !finite(layer.bias)) {
      return false;
    }
    for (const std::vector<double>& row : layer.weights) {
      if (row.size() != inputs || !finite(row)) return false;
    }
    inputs = layer.bias.size();
  }
  return inputs == 1;
}

}  // namespace

double evaluate(const Regressor& regressor, std::span<const double> features) {
  return std::visit([&](const auto& model) { return value(model, features); }, regressor);
}

bool is_sound(const Regressor& regressor, std::size_t features) {
  return std::visit([&](const auto& model) { return sound(model, features); }, regressor);
}

}  // namespace foretrain::learn
