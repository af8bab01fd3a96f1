// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/cli/fit/network_options.h"
#include "foretrain/cli/progress.h"
#include "foretrain/fit/device_calibration.h"
#include "foretrain/measured/machine_facts.h"
#include "foretrain/train/fit_inspector.h"

namespace foretrain::cli {
namespace {

constexpr std::size_t kCalibrationRuns = 30;

struct InspectorCommand {
  std::vector<std::string> data;  // the machine that predictions are for, then others
  std::string output;
  std::string examples;
  std::string calibration;
  std::string method = "hybrid";
  std::optional<std::size_t> folds;
  std::optional<std::size_t> least;
  train::InspectorFit options;
  NetworkOptions network;

  bool is_network() const { return method == "network" || !network.preset.empty(); }
};

// Of memory against the catalog's: activity is counted in shares of what a core of the machine was
// measured to copy. Steps alone tell it badly, since calls and arithmetic make up for it.
std::optional<double> memory_factor(const std::string& data, const Library& library) {
  const auto rate = measured::copied_bytes_per_s(data);
  if (!rate) return std::nullopt;
  return *rate / hw::find_device(library.catalog, "cpu:cores=1", nullptr).memory_bytes_per_s;
}

// As given, or found by some of the runs that the inspector learns from.
Calibration find_calibration(const InspectorCommand& command, const std::string& data,
                             const Library& library, FitOutput& output) {
  if (!command.calibration.empty()) {
    const Predictor given = read_predictor(command.calibration);
    if (given.calibration && !given.inspector) return *given.calibration;
    throw Error(ErrorKind::BadInput,
                "--calibration names no calibration; `foretrain fit calibration` writes one");
  }
  fit::DeviceMeasurements by;
  by.data = data;
  by.runs = kCalibrationRuns;
  if (!command.options.settings.empty()) by.setting = command.options.settings.front();
  Library start = copy_of(library);
  fit::CalibrationFit how;
  if (const auto memory = memory_factor(data, library)) {
    start.calibrations.push_back({.device = "cpu", .memory = *memory});
    how.factors = {"compute", "host", "network"};
  }
  const fit::FoundCalibration found = fit::calibrate_device(by, how, std::move(start), {});
  output.say(format("  %s calibrated by %s", found.calibration.device.c_str(), found.by.c_str()));
  return found.calibration;
}

void show(const std::vector<train::TargetFit>& found, FitOutput& output) {
  output.say("  error on architectures left out, and of physics with an offset:");
  for (const train::TargetFit& one : found) {
    const std::string physics = one.physics ? format("%5.1f %%", 100 * *one.physics) : "      -";
    output.say(format("  %-36s %5.1f %%  %s  by %s, %zu examples", one.name.c_str(),
                      100 * one.error, physics.c_str(), one.form.c_str(), one.examples));
  }
}

std::string note_of(const InspectorCommand& command, std::size_t jobs) {
  std::string note =
      format("method %s, %zu measured jobs",
             command.network.preset.empty() ? command.method.c_str() : "driple", jobs);
  for (const std::string& setting : command.options.settings) note += ", " + setting;
  return note + "; the test split took no part";
}

// Learned from; the others are of use only to a table of examples.
bool is_wanted(const measured::ResourceJob& job, const InspectorCommand& command) {
  const std::vector<std::string>& settings = command.options.settings;
  return job.split != "test" && (settings.empty() || std::find(settings.begin(), settings.end(),
                                                               job.setting) != settings.end());
}

train::NetworkFit network_fit_of(const InspectorCommand& command) {
  train::NetworkFit fit = network_fit_of(command.network);
  fit.settings = command.options.settings;
  fit.share = command.options.share;
  fit.share.seed = command.options.trees.seed;
  fit.folds = command.folds.value_or(fit.folds);
  fit.least_examples = command.least.value_or(fit.least_examples);
  fit.confidence = command.options.confidence;
  fit.train.seed = command.options.trees.seed;
  return fit;
}

InspectorModel fit_network(const InspectorCommand& command,
                           const std::vector<train::InspectorExample>& examples,
                           std::vector<train::TargetFit>& found, FitOutput& output) {
  const train::NetworkFit fit = network_fit_of(command);
  train::NetworkReport report;
  TrainingBar bar(fit.train);
  InspectorModel model = train::fit_network(examples, fit, report, [&](const auto& epoch) {
    bar.show(epoch);
    return true;
  });
  show_share(report.used, output);
  show_training(report, output);
  found = std::move(report.targets);
  return model;
}

InspectorModel fit_trees(const InspectorCommand& command,
                         const std::vector<train::InspectorExample>& examples,
                         std::vector<train::TargetFit>& found, FitOutput& output) {
  train::InspectorFit options = command.options;
  options.method = train::inspector_method_named(command.method).value();
  options.folds = command.folds.value_or(options.folds);
  options.least_examples = command.least.value_or(options.least_examples);
  options.share.seed = options.trees.seed;
  train::UsedShare used;
  InspectorModel model;
  {
    Progress bar("fitting");
    const auto show = [&](double share) { bar.show(static_cast<std::size_t>(100 * share), share); };
    model = train::fit_inspector(examples, options, found, show, &used);
  }
  show_share(used, output);
  return model;
}

// What was measured on one machine.
struct Machine {
  Calibration calibration;
  std::vector<measured::ResourceJob> jobs;
};

Machine read_machine(const InspectorCommand& command, const std::string& data,
                     const Library& library, bool all_jobs, FitOutput& output) {
  Machine machine{find_calibration(command, data, library, output), measured::resource_jobs(data)};
  if (!all_jobs) {
    std::erase_if(machine.jobs, [&](const auto& job) { return !is_wanted(job, command); });
  }
  return machine;
}

void check(const InspectorCommand& command) {
  if (command.data.size() < 2) return;
  if (command.is_network()) {
    throw Error(ErrorKind::BadInput, "a network learns from the runs of one machine");
  }
  if (!command.calibration.empty()) {
    throw Error(ErrorKind::BadInput, "--calibration is of one machine; give its runs alone");
  }
}

void run_inspector(const InspectorCommand& command, Console& console) {
  check(command);
  if (command.output.empty() && command.examples.empty()) {
    throw Error(ErrorKind::BadInput, "nothing to write: give -o FILE, --examples FILE or both");
  }
  FitOutput output(command.output, console);
  Output table(command.examples, console);
  const Library library = load_library();
  std::optional<Grouping> grouping;
  if (command.is_network()) grouping = network_fit_of(command).grouping;
  std::vector<Machine> machines(command.data.size());
  std::vector<train::InspectorExample> examples;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    machines[i] = read_machine(command, command.data[i], library, table.wanted(), output);
    Library own = copy_of(library);
    own.calibrations.push_back(machines[i].calibration);
    for (auto& one :
         train::inspector_examples(machines[i].jobs, own, command.options.threads, grouping)) {
      one.machine = i;
      examples.push_back(std::move(one));
    }
  }
  if (table.wanted()) {
    table.write(train::examples_csv(examples));
    table.close();
  }
  if (command.output.empty()) return;
  std::vector<train::TargetFit> found;
  InspectorModel model = command.is_network() ? fit_network(command, examples, found, output)
                                              : fit_trees(command, examples, found, output);
  model.device = machines.front().calibration.device;
  model.constants = library.constants.text();
  model.calibration = machines.front().calibration;
  show(found, output);
  std::size_t learned = 0;
  for (const Machine& machine : machines) {
    learned += static_cast<std::size_t>(
        std::count_if(machine.jobs.begin(), machine.jobs.end(),
                      [&](const auto& job) { return is_wanted(job, command); }));
  }
  const std::string note = note_of(command, learned);
  output.write(write_inspector(model, std::span(&note, 1)));
}

}  // namespace

void add_fit_inspector(Command& app, Console& console) {
  auto command = std::make_shared<InspectorCommand>();
  Command& sub = app.add_subcommand(
      "inspector", "how a job uses device, memory and network, from measured runs");
  sub.footer(
      "Examples:\n  foretrain fit inspector --data lab.db -o inspector.json\n"
      "  foretrain fit inspector --data lab.db --method network -o network.json\n"
      "  foretrain predict resnet18-cifar --device cpu:cores=1 --workers 2 --workers-per-node 1 "
      "--network 1gbps --batch 16 --predictors inspector.json");
  sub.add_option("--data", command->data,
                 "runs of the lab: a store, or a folder that it exported; of further machines too, "
                 "the first is the one that predictions are for")
      .required()
      .delimiter(',')
      .allow_extra_args(false);
  sub.add_option("-o,--output", command->output, "the predictor file to write");
  sub.add_option("--setting", command->options.settings, "learn from runs of these only (all)")
      .delimiter(',')
      .allow_extra_args(false);
  sub.add_option("--method", command->method,
                 "hybrid: physics, corrected where that helps; physics; trees: without physics; "
                 "network: a graph network that corrects physics")
      .one_of({"hybrid", "physics", "trees", "network"});
  sub.add_option("--calibration", command->calibration,
                 "of the machine, by `foretrain fit calibration` (found from the runs)");
  sub.add_option("--folds", command->folds,
                 "of architectures, for choices and intervals (5; of a network 10)")
      .check(number_range(2, 100));
  add_share_options(sub, command->options.share, "their");
  sub.add_option("--least", command->least,
                 "jobs that a number is learned from (20; by a network 4)")
      .check(number_range(1, 1'000'000));
  sub.add_option("--seed", command->options.trees.seed, "of trees, network and draws");
  sub.add_option("--examples", command->examples,
                 "write what is learned from, a CSV line per job and role; - shows it");
  add_network_options(sub, command->network);
  sub.callback([command, &console] { run_inspector(*command, console); });
}

}  // namespace foretrain::cli
