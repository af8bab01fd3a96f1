// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/network.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "foretrain/base/parallel_for.h"

namespace foretrain::train {
namespace {

using learn::GraphNetwork;
using learn::Matrix;
using learn::Tape;
using learn::Var;

// A batch is worked out in so many parts, whose gradients are added up in their order: that makes
// results independent of the number of threads.
constexpr std::size_t kParts = 4;

struct Targets {
  Matrix values;
  Matrix mask;
  double count = 0;
};

Targets targets_of(const std::vector<const GraphExample*>& examples) {
  const std::size_t outputs = examples.front()->targets.size();
  Targets targets{Matrix(examples.size(), outputs), Matrix(examples.size(), outputs), 0};
  for (std::size_t i = 0; i < examples.size(); ++i) {
    for (std::size_t j = 0; j < outputs; ++j) {
      const std::optional<float>& one = examples[i]->targets[j];
      if (!one) continue;
      targets.values.at(i, j) = *one;
      targets.mask.at(i, j) = 1;
      targets.count += 1;
    }
  }
  return targets;
}

// Sums over a part of a batch.
struct Part {
  double squares = 0;
  double count = 0;
  std::vector<std::vector<float>> gradients{};  // of the sum of squares, by parameter
};

Part work_out(const GraphNetwork& network, const std::vector<const GraphExample*>& examples,
              bool with_gradients) {
  Part part;
  if (examples.empty()) return part;
  std::vector<const learn::GraphInput*> graphs;
  for (const GraphExample* one : examples) graphs.push_back(&one->graph);
  const learn::GraphBatch batch = learn::make_batch(graphs, network.shape.convolution);
  const Targets targets = targets_of(examples);
  Tape tape(with_gradients);
  std::vector<Var> parameters;
  for (const learn::NamedMatrix& one : network.parameters) {
    parameters.push_back(tape.input(one.matrix));
  }
  const Var outputs = learn::forward(network.shape, parameters, batch, tape);
  const Var loss = tape.mean_square(outputs, targets.values, targets.mask);
  part.count = targets.count;
  part.squares = static_cast<double>(tape.value(loss).values[0]) * std::max(1.0, targets.count);
  if (!with_gradients) return part;
  tape.backward(loss);
  for (const Var one : parameters) {
    std::vector<float> gradient = tape.gradient(one).values;
    for (float& value : gradient) value *= static_cast<float>(targets.count);
    part.gradients.push_back(std::move(gradient));
  }
  return part;
}

// Examples of a batch in kParts parts, worked out by several threads and added up in their order.
Part add_up(const GraphNetwork& network, const std::vector<const GraphExample*>& examples,
            bool with_gradients, int threads) {
  std::vector<Part> parts(kParts);
  parallel_for(kParts, threads, [&](std::size_t p) {
    std::vector<const GraphExample*> mine;
    for (std::size_t i = p; i < examples.size(); i += kParts) mine.push_back(examples[i]);
    parts[p] = work_out(network, mine, with_gradients);
  });
  Part total;
  for (Part& part : parts) {
    total.squares += part.squares;
    total.count += part.count;
    if (total.gradients.empty()) {
      total.gradients = std::move(part.gradients);
      continue;
    }
    for (std::size_t i = 0; i < part.gradients.size(); ++i) {
      for (std::size_t j = 0; j < part.gradients[i].size(); ++j) {
        total.gradients[i][j] += part.gradients[i][j];
      }
    }
  }
  return total;
}

double mean_loss(const GraphNetwork& network, const std::vector<GraphExample>& examples,
                 std::size_t batch, int threads) {
  double squares = 0;
  double count = 0;
  for (std::size_t from = 0; from < examples.size(); from += batch) {
    std::vector<const GraphExample*> some;
    for (std::size_t i = from; i < std::min(from + batch, examples.size()); ++i) {
      some.push_back(&examples[i]);
    }
    const Part part = add_up(network, some, false, threads);
    squares += part.squares;
    count += part.count;
  }
  return squares / std::max(1.0, count);
}

bool is_frozen(const std::string& name, const std::vector<std::string>& frozen) {
  return std::any_of(frozen.begin(), frozen.end(),
                     [&](const std::string& begin) { return name.starts_with(begin); });
}

// Kingma, Ba, ICLR 2015; weight decay is added to the gradient, as PyTorch's Adam does.
void update(const Part& part, const TrainOptions& options, TrainState& state) {
  constexpr double kFirst = 0.9;
  constexpr double kSecond = 0.999;
  constexpr double kEpsilon = 1e-8;
  ++state.updates;
  const auto t = static_cast<double>(state.updates);
  const double rate =
      options.rate * std::sqrt(1 - std::pow(kSecond, t)) / (1 - std::pow(kFirst, t));
  const double epsilon = kEpsilon * std::sqrt(1 - std::pow(kSecond, t));
  const double share = 1 / std::max(1.0, part.count);
  for (std::size_t i = 0; i < state.network.parameters.size(); ++i) {
    learn::NamedMatrix& parameter = state.network.parameters[i];
    if (part.gradients[i].empty() || is_frozen(parameter.name, options.frozen)) continue;
    for (std::size_t j = 0; j < parameter.matrix.values.size(); ++j) {
      float& value = parameter.matrix.values[j];
      const double gradient = share * part.gradients[i][j] + options.weight_decay * value;
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
                 TrainState& state) {
  const std::vector<std::size_t> order = order_of(examples.size(), state.epoch, options.seed);
  double squares = 0;
  double count = 0;
  for (std::size_t from = 0; from < order.size(); from += options.batch) {
    std::vector<const GraphExample*> batch;
    for (std::size_t i = from; i < std::min(from + options.batch, order.size()); ++i) {
      batch.push_back(&examples[order[i]]);
    }
    const Part part = add_up(state.network, batch, true, options.threads);
    squares += part.squares;
    count += part.count;
    update(part, options, state);
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
  return mean_loss(network, examples, 32, 0);
}

void train_network(const std::vector<GraphExample>& examples,
                   const std::vector<GraphExample>& validation, const TrainOptions& options,
                   TrainState& state, const std::function<bool(const EpochReport&)>& on_epoch) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  while (state.epoch < options.most_epochs && state.epoch - state.best_epoch < options.patience) {
    EpochReport report;
    report.train_loss = run_epoch(examples, options, state);
    report.validation_loss = mean_loss(state.network, validation, options.batch, options.threads);
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
