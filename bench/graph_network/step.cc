// SPDX-License-Identifier: Apache-2.0
// A worker of compare.py: trains the network as Driple released it on 32 drawn graphs, one step for
// each line "step" on its input, and evaluates single graphs for each line "evaluate". Answers with
// the CPU seconds and the seconds that this took. Its argument is the number of threads.
#include <ctime>
#include <iostream>
#include <random>
#include <string>

#include "foretrain/train/network.h"

namespace {

using namespace foretrain;

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A tree of 100 nodes with 120 more edges, and 12 targets.
train::GraphExample drawn(std::mt19937& generator) {
  const auto number = [&] { return static_cast<float>(generator() % 1000) / 1000.0F; };
  const auto node = [&](int below) {
    return static_cast<int>(generator() % static_cast<unsigned>(below));
  };
  train::GraphExample example;
  example.graph.nodes = learn::Matrix(100, 3);
  for (float& value : example.graph.nodes.values) value = number();
  for (int i = 1; i < 100; ++i) example.graph.edges.emplace_back(i, node(i));
  for (int i = 0; i < 120; ++i) example.graph.edges.emplace_back(node(100), node(100));
  for (int i = 0; i < 12; ++i) example.targets.emplace_back(number());
  return example;
}

// Since it was made: CPU seconds and seconds.
class Stopwatch {
 public:
  void print() const {
    std::cout << seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_ << ' '
              << seconds_of(CLOCK_MONOTONIC) - wall_ << std::endl;
  }

 private:
  double cpu_ = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  double wall_ = seconds_of(CLOCK_MONOTONIC);
};

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 generator(1);
  std::vector<train::GraphExample> examples;
  examples.reserve(32);
  for (int i = 0; i < 32; ++i) examples.push_back(drawn(generator));
  train::TrainState state = train::begin_training(learn::make_network(learn::driple_shape(), 1));
  learn::Evaluator evaluator(state.network);
  train::TrainOptions options;  // its batches hold 32 examples: one step is an epoch
  options.threads = argc > 1 ? std::stoi(argv[1]) : 1;
  const auto wait_for_step = [&] {
    std::size_t next = 0;
    for (std::string line; std::getline(std::cin, line);) {
      if (line == "step") return true;
      const std::vector<const learn::GraphInput*> one{&examples[next++ % examples.size()].graph};
      const Stopwatch stopwatch;
      evaluator.evaluate(one);
      stopwatch.print();
    }
    return false;
  };
  if (!wait_for_step()) return 0;
  Stopwatch stopwatch;
  train::train_network(examples, {}, options, state, [&](const train::EpochReport&) {
    stopwatch.print();
    const bool more = wait_for_step();
    stopwatch = {};
    return more;
  });
}
