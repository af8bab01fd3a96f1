// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/fit/network_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "foretrain/base/format.h"

namespace foretrain::cli {

void add_network_options(CLI::App& app, NetworkOptions& options) {
  const std::string group = "Graph network";
  const auto in_group = [&](CLI::Option* option) { return option->group(group); };
  in_group(app.add_option("--preset", options.preset,
                          "driple: the network as published, without physics"))
      ->check(CLI::IsMember({"driple"}));
  in_group(app.add_option("--groups", options.groups, "nodes of the grouped graph (20)"))
      ->check(CLI::Range(1, 10'000));
  in_group(app.add_option("--grouping", options.grouping,
                          "uniform, or proportional to the graph's size"))
      ->check(CLI::IsMember({"uniform", "proportional"}));
  in_group(app.add_option("--convolution", options.convolution, "gcn, gin, gat or mpnn"))
      ->check(CLI::IsMember({"gcn", "gin", "gat", "mpnn"}));
  in_group(app.add_option("--depth", options.depth, "convolutions in all (half the groups)"))
      ->check(CLI::Range(1, 10'000));
  in_group(app.add_option("--readout", options.readout, "set2set, mean, max or attention"))
      ->check(CLI::IsMember({"set2set", "mean", "max", "attention"}));
  in_group(app.add_flag("--no-gru", options.no_gru, "no recurrent unit between convolutions"));
  in_group(app.add_option("--role", options.role, "worker, server or both"))
      ->check(CLI::IsMember({"worker", "server", "both"}));
  in_group(app.add_option("--epochs", options.epochs, "at most so many"))
      ->check(CLI::Range(1, 1'000'000));
  in_group(app.add_option("--patience", options.patience,
                          "epochs without a lower validation loss until training ends"))
      ->check(CLI::Range(1, 1'000'000));
  in_group(app.add_option("--checkpoint", options.checkpoint,
                          "keep here where training stands, and go on from there"));
}

train::NetworkFit network_fit_of(const NetworkOptions& options) {
  train::NetworkFit fit = options.preset.empty() ? train::network_fit() : train::driple_fit();
  if (options.groups) {
    fit.grouping.groups = *options.groups;
    if (!options.preset.empty()) fit.shape = learn::driple_shape(*options.groups);
  }
  fit.grouping.proportional = options.grouping == "proportional";
  fit.shape.convolution = learn::convolution_named(options.convolution).value();
  fit.shape.readout = learn::readout_named(options.readout).value();
  fit.shape.gru = !options.no_gru;
  fit.shape.depth = options.depth.value_or(fit.shape.depth);
  fit.train.most_epochs = options.epochs.value_or(fit.train.most_epochs);
  fit.train.patience = options.patience.value_or(fit.train.patience);
  fit.checkpoint = options.checkpoint;
  using resource::Role;
  if (options.role == "server") fit.roles = {Role::Server};
  if (options.role == "both") fit.roles = {Role::Worker, Role::Server};
  return fit;
}

void TrainingBar::show(const train::EpochReport& epoch) {
  if (!first_ || epoch.best_loss < best_loss_) best_epoch_ = epoch.epoch;
  if (!first_) first_ = epoch.epoch - 1;
  best_loss_ = epoch.best_loss;
  const std::size_t end = std::min(options_.most_epochs, best_epoch_ + options_.patience);
  const auto done = static_cast<double>(epoch.epoch - *first_);
  const auto to_come = static_cast<double>(end - std::min(end, epoch.epoch));
  bar_.show(epoch.epoch, static_cast<double>(epoch.epoch) / static_cast<double>(end),
            epoch.elapsed / done * to_come,
            format("loss %.4g, best %.4g", epoch.validation_loss, epoch.best_loss));
}

void show_training(const train::NetworkReport& report, FitOutput& output) {
  output.say(format("  %zu architectures, %zu examples; %zu parameters", report.architectures,
                    report.examples, report.parameters));
  output.say(format("  %zu epochs in %.1f s, the best was %zu with validation loss %.4g",
                    report.epochs, report.time.count(), report.best_epoch, report.validation_loss));
}

}  // namespace foretrain::cli
