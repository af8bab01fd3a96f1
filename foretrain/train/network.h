// SPDX-License-Identifier: Apache-2.0
// Training of a network over graphs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/learn/graph_network.h"
#include "foretrain/train/example.h"

namespace foretrain::train {

// As published (Driple): Adam at 0.003, weight decay 1e-6, batches of 32, until the validation loss
// has not fallen for 1,000 epochs.
struct TrainOptions {
  double rate = 0.003;
  double weight_decay = 1e-6;
  std::size_t batch = 32;
  std::size_t patience = 1000;  // epochs
  std::size_t most_epochs = 100'000;
  std::uint64_t seed = 1;  // of the order of examples
  int threads = 0;         // 0: as many as the machine has; results do not depend on it
  // Parameters whose names begin so are not trained.
  std::vector<std::string> frozen{};
};

// Where training stands, whole: from here it goes on as if it had never stopped.
struct TrainState {
  learn::GraphNetwork network{};  // as it is now
  learn::GraphNetwork best{};     // with the lowest validation loss so far
  double best_loss = 0;           // of the validation set
  std::size_t best_epoch = 0;
  std::size_t epoch = 0;                            // that are done
  std::vector<std::vector<float>> first_moments{};  // of Adam, by parameter
  std::vector<std::vector<float>> second_moments{};
  std::size_t updates = 0;
};

struct EpochReport {
  std::size_t epoch = 0;
  double train_loss = 0;
  double validation_loss = 0;
  double best_loss = 0;
  Seconds elapsed{0};  // since training began or went on
};

TrainState begin_training(const learn::GraphNetwork& network);

// The mean of squares over what the examples have.
double loss_of(const learn::GraphNetwork& network, const std::vector<GraphExample>& examples);

// Trains from `state` until the validation loss stops to fall; `state` is the end then. `on_epoch`
// may return false to stop there. The same start, examples and options give the same bits, however
// often it was stopped and went on.
void train_network(const std::vector<GraphExample>& examples,
                   const std::vector<GraphExample>& validation, const TrainOptions& options,
                   TrainState& state, const std::function<bool(const EpochReport&)>& on_epoch);

// A state as bytes, and back. Throws Error(BadInput) naming `where`.
std::string write_state(const TrainState& state);
TrainState read_state(const std::string& bytes, const std::string& where);

}  // namespace foretrain::train
