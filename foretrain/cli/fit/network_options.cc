// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/fit/network_options.h"

#include <algorithm>

#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"

namespace foretrain::cli {
namespace {

// The most that a file may say; steps that the lab measures have fewer nodes.
constexpr std::size_t kMostGroups = 10'000;

}  // namespace

void add_network_options(Command& app, NetworkOptions& options) {
  const std::string group = "Graph network";
  const auto in_group = [&](Option& option) -> Option& { return option.group(group); };
  in_group(app.add_option("--preset", options.preset,
                          "driple: the network as published, without physics"))
      .one_of({"driple"});
  in_group(app.add_option("--groups", options.groups, "nodes of the grouped graph (20)"))
      .check(number_range(1, 10'000));
  in_group(
      app.add_option("--grouping", options.grouping,
                     "uniform, proportional to the graph's size, or none: every node for itself"))
      .one_of({"uniform", "proportional", "none"});
  in_group(app.add_option("--convolution", options.convolution, "gcn, gin, gat or mpnn"))
      .one_of({"gcn", "gin", "gat", "mpnn"});
  in_group(app.add_option("--depth", options.depth, "convolutions in all (half the groups)"))
      .check(number_range(1, 10'000));
  in_group(app.add_option("--readout", options.readout, "set2set, mean, max or attention"))
      .one_of({"set2set", "mean", "max", "attention"});
  in_group(app.add_flag("--no-gru", options.no_gru, "no recurrent unit between convolutions"));
  in_group(app.add_option("--role", options.role, "worker, server or both"))
      .one_of({"worker", "server", "both"});
  in_group(app.add_option("--epochs", options.epochs, "at most so many"))
      .check(number_range(1, 1'000'000));
  in_group(app.add_option("--patience", options.patience,
                          "epochs without a lower validation loss until training ends"))
      .check(number_range(1, 1'000'000));
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
  if (options.grouping == "none") {
    if (fit.shape.depth == 0) fit.shape.depth = std::max<std::size_t>(1, fit.grouping.groups / 2);
    fit.grouping.groups = kMostGroups;
  }
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

void add_share_options(Command& app, train::Share& share, const std::string& whose) {
  Option& fraction =
      app.add_option("--fraction", share.fraction, "of " + whose + " architectures, drawn (1)")
          .check(number_range(0.0, 1.0));
  app.add_option("--jobs", share.jobs, "so many of " + whose + " measured jobs, drawn (all)")
      .check(number_range(1, 1'000'000))
      .excludes(fraction);
}

void show_share(const train::UsedShare& used, FitOutput& output) {
  if (used.jobs == used.all_jobs) return;
  output.say(format("  %zu of %zu architectures drawn, %zu of %zu jobs", used.architectures,
                    used.all_architectures, used.jobs, used.all_jobs));
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
  output.say(
      format("  %zu epochs in %.1f s, each %.4g s of processor time; the best was %zu with "
             "validation loss %.4g",
             report.epochs, report.time.count(), report.per_epoch.count(), report.best_epoch,
             report.validation_loss));
}

}  // namespace foretrain::cli
