// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/dense.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "foretrain/train/standardise.h"

namespace foretrain::train {
namespace {

constexpr int kEpochs = 800;
constexpr double kRate = 0.02;   // falls to nothing along a cosine
constexpr double kDecay = 1e-4;  // of weights, in the loss

// All parameters of the network in one list: hidden weights row by row, hidden bias, output
// weights, output bias.
struct Layout {
  std::size_t inputs = 0;
  std::size_t width = 0;

  std::size_t bias() const { return inputs * width; }
  std::size_t output() const { return bias() + width; }
  std::size_t size() const { return output() + width + 1; }
};

std::vector<double> draw(const Layout& layout, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53 * 2 - 1; };
  const double hidden = 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(1, layout.inputs)));
  const double last = 1 / std::sqrt(static_cast<double>(layout.width));
  std::vector<double> values(layout.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = uniform() * (i < layout.output() ? hidden : last);
  }
  values.back() = 0;
  return values;
}

// Adds the gradient of weight / 2 (output - target)^2.
void add_gradient(const Layout& layout, const std::vector<double>& parameters,
                  const std::vector<double>& row, double target, double weight,
                  std::vector<double>& state, std::vector<double>& gradient) {
  double output = parameters.back();
  for (std::size_t i = 0; i < layout.width; ++i) {
    double sum = parameters[layout.bias() + i];
    for (std::size_t j = 0; j < layout.inputs; ++j) {
      sum += parameters[i * layout.inputs + j] * row[j];
    }
    state[i] = std::tanh(sum);
    output += parameters[layout.output() + i] * state[i];
  }
  const double off = weight * (output - target);
  gradient.back() += off;
  for (std::size_t i = 0; i < layout.width; ++i) {
    gradient[layout.output() + i] += off * state[i];
    const double inner = off * parameters[layout.output() + i] * (1 - state[i] * state[i]);
    gradient[layout.bias() + i] += inner;
    for (std::size_t j = 0; j < layout.inputs; ++j) {
      gradient[i * layout.inputs + j] += inner * row[j];
    }
  }
}

// Adam (Kingma and Ba, 2015) with its usual constants.
class Adam {
 public:
  explicit Adam(std::size_t size) : mean_(size), square_(size) {}
  void step(const std::vector<double>& gradient, double rate, std::vector<double>& values) {
    constexpr double kMean = 0.9;
    constexpr double kSquare = 0.999;
    ++steps_;
    const double mean_bias = 1 - std::pow(kMean, steps_);
    const double square_bias = 1 - std::pow(kSquare, steps_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      mean_[i] = kMean * mean_[i] + (1 - kMean) * gradient[i];
      square_[i] = kSquare * square_[i] + (1 - kSquare) * gradient[i] * gradient[i];
      values[i] -= rate * mean_[i] / mean_bias / (std::sqrt(square_[i] / square_bias) + 1e-8);
    }
  }

 private:
  int steps_ = 0;
  std::vector<double> mean_;
  std::vector<double> square_;
};

learn::DenseModel model_of(const Layout& layout, const std::vector<double>& values,
                           learn::Standardised input, double mean, double deviation) {
  learn::DenseLayer hidden;
  learn::DenseLayer output{{{}}, {mean + deviation * values.back()}};
  for (std::size_t i = 0; i < layout.width; ++i) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * layout.inputs);
    hidden.weights.emplace_back(row, row + static_cast<std::ptrdiff_t>(layout.inputs));
    hidden.bias.push_back(values[layout.bias() + i]);
    output.weights.front().push_back(deviation * values[layout.output() + i]);
  }
  return {std::move(input), {std::move(hidden), std::move(output)}};
}

}  // namespace

learn::DenseModel fit_dense(const BoostData& data, std::size_t width, std::uint64_t seed) {
  const learn::Standardised input = standard_of(data.features);
  const std::vector<std::vector<double>> rows = standardise(data.features, input);
  std::vector<std::vector<double>> targets;
  for (const double target : data.targets) targets.push_back({target});
  const learn::Standardised target = standard_of(targets);
  targets = standardise(targets, target);
  const double all = std::accumulate(data.weights.begin(), data.weights.end(), 0.0);
  const Layout layout{input.mean.size(), width};
  std::vector<double> values = draw(layout, seed);
  std::vector<double> state(width);
  Adam adam(values.size());
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<double> gradient(values.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      add_gradient(layout, values, rows[i], targets[i][0], data.weights[i] / all, state, gradient);
    }
    for (std::size_t i = 0; i < values.size(); ++i) gradient[i] += kDecay * values[i];
    const double share = static_cast<double>(epoch) / kEpochs;
    adam.step(gradient, kRate * (1 + std::cos(M_PI * share)) / 2, values);
  }
  return model_of(layout, values, input, target.mean[0], target.deviation[0]);
}

}  // namespace foretrain::train
