// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/network.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "foretrain/learn/denormals.h"
#include "foretrain/train/detail/batch.h"

namespace foretrain::train {
namespace {

using learn::GraphNetwork;

double mean_loss(const GraphNetwork& network, const std::vector<GraphExample>& examples,
                 int threads) {
  std::vector<const learn::GraphInput*> graphs;
  graphs.reserve(examples.size());
  for (const GraphExample& one : examples) graphs.push_back(&one.graph);
  const learn::Matrix outputs = learn::evaluate(network, graphs, threads);
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    for (std::size_t j = 0; j < examples[i].targets.size(); ++j) {
      const std::optional<float>& target = examples[i].targets[j];
      if (!target) continue;
      const double error = static_cast<double>(outputs.at(i, j)) - static_cast<double>(*target);
      squares += error * error;
      count += 1;
    }
  }
  return squares / std::max(1.0, count);
}

// Kingma, Ba, ICLR 2015; weight decay is added to the gradient, as PyTorch's Adam does.
void update(const SquareSums& sums, const TrainOptions& options, TrainState& state) {
  constexpr double kFirst = 0.9;
  constexpr double kSecond = 0.999;
  constexpr double kEpsilon = 1e-8;
  ++state.updates;
  const auto t = static_cast<double>(state.updates);
  const double rate =
      options.rate * std::sqrt(1 - std::pow(kSecond, t)) / (1 - std::pow(kFirst, t));
  const double epsilon = kEpsilon * std::sqrt(1 - std::pow(kSecond, t));
  const double share = 1 / std::max(1.0, sums.count);
  for (std::size_t i = 0; i < state.network.parameters.size(); ++i) {
    learn::NamedMatrix& parameter = state.network.parameters[i];
    if (sums.gradients[i].empty() || is_frozen(parameter.name, options.frozen)) continue;
    for (std::size_t j = 0; j < parameter.matrix.values.size(); ++j) {
      float& value = parameter.matrix.values[j];
      const double gradient = share * sums.gradients[i][j] + options.weight_decay * value;
      float& first = state.first_moments[i][j];
      float& second = state.second_moments[i][j];
      first = static_cast<float>(kFirst * first + (1 - kFirst) * gradient);
      second = static_cast<float>(kSecond * second + (1 - kSecond) * gradient * gradient);
      value -= static_cast<float>(rate * first / (std::sqrt(second) + epsilon));
    }
  }
}

// Every epoch has an order of its own, whichever epochs ran before in this process.
std::vector<std::size_t> order_of(std::size_t count, std::size_t epoch, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 generator(seed * 1'000'003 + epoch);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
  return order;
}

double run_epoch(const std::vector<GraphExample>& examples, const TrainOptions& options,
                 TrainState& state, Tapes& tapes) {
  const std::vector<std::size_t> order = order_of(examples.size(), state.epoch, options.seed);
  double squares = 0;
  double count = 0;
  for (std::size_t from = 0; from < order.size(); from += options.batch) {
    std::vector<const GraphExample*> batch;
    for (std::size_t i = from; i < std::min(from + options.batch, order.size()); ++i) {
      batch.push_back(&examples[order[i]]);
    }
    const SquareSums sums =
        square_sums(state.network, batch, options.frozen, options.threads, tapes);
    squares += sums.squares;
    count += sums.count;
    update(sums, options, state);
  }
  ++state.epoch;
  return squares / std::max(1.0, count);
}

}  // namespace

TrainState begin_training(const GraphNetwork& network) {
  TrainState state{.network = network, .best = network};
  state.best_loss = std::numeric_limits<double>::infinity();
  for (const learn::NamedMatrix& one : network.parameters) {
    state.first_moments.emplace_back(one.matrix.values.size());
    state.second_moments.emplace_back(one.matrix.values.size());
  }
  return state;
}

double loss_of(const GraphNetwork& network, const std::vector<GraphExample>& examples) {
  return mean_loss(network, examples, 0);
}

void train_network(const std::vector<GraphExample>& examples,
                   const std::vector<GraphExample>& validation, const TrainOptions& options,
                   TrainState& state, const std::function<bool(const EpochReport&)>& on_epoch) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const learn::FlushDenormals flush;
  Tapes tapes;
  while (state.epoch < options.most_epochs && state.epoch - state.best_epoch < options.patience) {
    EpochReport report;
    report.train_loss = run_epoch(examples, options, state, tapes);
    report.validation_loss = mean_loss(state.network, validation, options.threads);
    if (report.validation_loss < state.best_loss) {
      state.best_loss = report.validation_loss;
      state.best_epoch = state.epoch;
      state.best = state.network;
    }
    report.epoch = state.epoch;
    report.best_loss = state.best_loss;
    report.elapsed = Clock::now() - start;
    if (on_epoch && !on_epoch(report)) return;
  }
}

}  // namespace foretrain::train
