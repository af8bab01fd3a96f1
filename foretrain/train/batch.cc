// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/detail/batch.h"

#include <algorithm>

#include "foretrain/base/parallel_for.h"

namespace foretrain::train {
namespace {

using learn::GraphNetwork;
using learn::Matrix;
using learn::Tape;
using learn::Var;

// A batch is worked out in so many parts, whose gradients are added up in their order: that makes
// results independent of the number of threads.
constexpr std::size_t kParts = 8;

struct Targets {
  Matrix values;
  Matrix mask;
  double count = 0;
};

Targets targets_of(std::span<const GraphExample* const> examples) {
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

std::vector<Var> put_parameters(const GraphNetwork& network, const std::vector<std::string>& frozen,
                                Tape& tape) {
  std::vector<Var> parameters;
  for (const learn::NamedMatrix& one : network.parameters) {
    parameters.push_back(is_frozen(one.name, frozen) ? tape.data(one.matrix)
                                                     : tape.input(one.matrix));
  }
  tape.keep();
  return parameters;
}

// A few graphs at a time, so that what their gradients need is still in the caches.
SquareSums part_of(const GraphNetwork& network, std::span<const GraphExample* const> examples,
                   const std::vector<std::string>& frozen, Tapes& tapes) {
  SquareSums sums;
  if (examples.empty()) return sums;
  Tape tape = tapes.take();
  const std::vector<Var> parameters = put_parameters(network, frozen, tape);
  std::vector<const learn::GraphInput*> graphs;
  for (const GraphExample* one : examples) graphs.push_back(&one->graph);
  for (std::size_t from = 0; from < examples.size();) {
    const std::size_t count = learn::graphs_at_once(std::span(graphs).subspan(from));
    const learn::GraphBatch batch = learn::make_batch(
        std::span(graphs).subspan(from, count), learn::neighbours_of(network.shape.convolution));
    const Targets targets = targets_of(examples.subspan(from, count));
    const Var outputs = learn::forward(network.shape, parameters, batch, tape);
    const Var squares = tape.square_sum(outputs, targets.values, targets.mask);
    sums.squares += static_cast<double>(tape.value(squares).values[0]);
    sums.count += targets.count;
    tape.backward(squares);
    tape.rewind();
    from += count;
  }
  for (const Var one : parameters) sums.gradients.push_back(tape.gradient(one).values);
  tapes.give_back(std::move(tape));
  return sums;
}

void add(SquareSums&& part, SquareSums& total) {
  total.squares += part.squares;
  total.count += part.count;
  if (total.gradients.empty()) {
    total.gradients = std::move(part.gradients);
    return;
  }
  for (std::size_t i = 0; i < part.gradients.size(); ++i) {
    for (std::size_t j = 0; j < part.gradients[i].size(); ++j) {
      total.gradients[i][j] += part.gradients[i][j];
    }
  }
}

}  // namespace

Tape Tapes::take() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return Tape();
  Tape tape = std::move(spare_.back());
  spare_.pop_back();
  return tape;
}

void Tapes::give_back(Tape&& tape) {
  tape.clear();
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(tape));
}

bool is_frozen(const std::string& name, const std::vector<std::string>& frozen) {
  return std::any_of(frozen.begin(), frozen.end(),
                     [&](const std::string& begin) { return name.starts_with(begin); });
}

SquareSums square_sums(const GraphNetwork& network, std::span<const GraphExample* const> examples,
                       const std::vector<std::string>& frozen, int threads, Tapes& tapes) {
  std::vector<SquareSums> parts(kParts);
  parallel_for(kParts, threads, [&](std::size_t p) {
    const std::size_t from = examples.size() * p / kParts;
    const std::size_t to = examples.size() * (p + 1) / kParts;
    parts[p] = part_of(network, examples.subspan(from, to - from), frozen, tapes);
  });
  SquareSums total;
  for (SquareSums& part : parts) add(std::move(part), total);
  return total;
}

}  // namespace foretrain::train
