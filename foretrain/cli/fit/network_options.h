// SPDX-License-Identifier: Apache-2.0
// `fit inspector --method network`: the options of a graph network, and how its training is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/cli/progress.h"
#include "foretrain/train/fit_network.h"

namespace foretrain::cli {

class Command;

struct NetworkOptions {
  std::string preset;
  std::string grouping = "uniform";
  std::string convolution = "gcn";
  std::string readout = "set2set";
  std::string role = "worker";
  std::string checkpoint;
  std::optional<std::size_t> groups;
  std::optional<std::size_t> depth;
  std::optional<std::size_t> epochs;
  std::optional<std::size_t> patience;
  bool no_gru = false;
};
void add_network_options(Command& app, NetworkOptions& options);

train::NetworkFit network_fit_of(const NetworkOptions& options);

// How much of the data is used: --fraction, --jobs.
void add_share_options(Command& app, train::Share& share, const std::string& whose);
// Says so where it is not all.
void show_share(const train::UsedShare& used, FitOutput& output);

// A bar with loss and time left while a network trains.
class TrainingBar {
 public:
  explicit TrainingBar(const train::TrainOptions& options) : options_(options) {}
  void show(const train::EpochReport& epoch);

 private:
  train::TrainOptions options_;
  Progress bar_{"epochs"};
  std::optional<std::size_t> first_;
  std::size_t best_epoch_ = 0;
  double best_loss_ = 0;
};

// What was trained, in how many epochs and seconds, with what loss.
void show_training(const train::NetworkReport& report, FitOutput& output);

}  // namespace foretrain::cli
