// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/run.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cost/framework_file.h"
#include "foretrain/fit/collectives.h"
#include "foretrain/fit/commands.h"
#include "foretrain/fit/framework.h"
#include "foretrain/fit/intervals.h"
#include "foretrain/fit/operators.h"
#include "foretrain/fit/steps.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::fit {
namespace {

struct OperatorsCommand {
  std::vector<std::string> data;
  std::string output;
  std::string start;
  std::string steps;
  OperatorFit fit;
};

void show(const FittedGroup& group) {
  std::printf("  %-18s %6zu rows  %2zu constants  error %.1f %% -> %.1f %%\n", group.name.c_str(),
              group.rows, group.constants, 100 * std::expm1(group.before),
              100 * std::expm1(group.after));
  std::fflush(stdout);
}

std::string note(const FittedGroup& group, const OperatorFit& fit) {
  std::string text = group.name + ": " + std::to_string(group.rows) + " rows";
  for (const std::string& device : fit.without) text += ", without " + device;
  return text;
}

void fit_to_steps(const OperatorsCommand& command, cost::Constants& constants,
                  std::vector<std::string>& notes) {
  const StepsFit options{command.fit.without, command.fit.evaluations};
  const FittedSteps fitted = fit_steps(command.steps, options, load_library(), constants);
  round_digits(constants);
  show(fitted.group);
  notes.push_back(note(fitted.group, command.fit));
  for (const auto& [device, machine] : fitted.machines) {
    std::printf("  machine of %s: host x %.2f, copy x %.2f\n", device.c_str(), machine.host,
                machine.copy);
  }
}

void run_operators(const OperatorsCommand& command) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  const cost::Constants start =
      command.start.empty()
          ? cost::shipped_operator_model().constants
          : cost::read_constants(read_file(command.start, kLargest), named(command.start));
  const hw::Catalog catalog = hw::load_catalog();
  cost::Constants constants = start;
  std::vector<std::string> notes;
  for (const std::string& folder : command.data) {
    const FittedOperators fitted = fit_operators(folder, constants, command.fit, catalog, show);
    constants = fitted.constants;
    for (const FittedGroup& group : fitted.groups) notes.push_back(note(group, command.fit));
  }
  if (!command.steps.empty()) fit_to_steps(command, constants, notes);
  write_file(command.output, cost::write_constants(constants, notes));
}

void add_operators(CLI::App& app) {
  auto command = std::make_shared<OperatorsCommand>();
  CLI::App& sub =
      *app.add_subcommand("operators", "constants of the operator model from measured operators");
  sub.footer(
      "Example:\n  foretrain fit operators --data measurements/operators -o operators.json\n"
      "  foretrain evaluate --data measurements/training --predictor operators.json");
  sub.add_option("--data", command->data, "folders of operator files, one after another")
      ->delimiter(',');
  sub.add_option("--steps", command->steps, "file of measured training steps");
  sub.add_option("-o,--output", command->output, "the predictor file to write")->required();
  sub.add_option("--start", command->start, "start from this file, not from what is shipped");
  sub.add_option("--without", command->fit.without,
                 "leave these devices, or models of steps, out; 'resnet*': all that begin so")
      ->delimiter(',');
  sub.add_option("--evaluations", command->fit.evaluations, "effort for each group of constants")
      ->check(CLI::Range(1, 100000));
  sub.callback([command] { run_operators(*command); });
}

struct CollectivesCommand {
  std::string data;
  std::string output;
  std::string start;
  CollectiveFit fit;
};

void run_collectives(const CollectivesCommand& command) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  const comm::Constants start =
      command.start.empty()
          ? comm::shipped_constants()
          : comm::read_constants(read_file(command.start, kLargest), named(command.start));
  const FittedCollectives fitted = fit_collectives(command.data, start, command.fit);
  std::printf("  %zu rows of %zu cells  error %.1f %% -> %.1f %%\n", fitted.rows, fitted.cells,
              100 * std::expm1(fitted.before), 100 * std::expm1(fitted.after));
  for (const LeftOutCell& cell : fitted.left_out) {
    std::printf("  left out: %-42s %6zu rows  MAPE %5.1f %%  bias %+6.1f %%\n", cell.cell.c_str(),
                cell.rows, 100 * cell.mape, 100 * cell.bias);
  }
  std::string note = std::to_string(fitted.rows) + " rows of " + std::to_string(fitted.cells) +
                     " cells (cluster, collective, nodes, devices)";
  for (const std::string& cluster : command.fit.without) note += ", without " + cluster;
  write_file(command.output, comm::write_constants(fitted.constants, std::span(&note, 1)));
}

void add_collectives(CLI::App& app) {
  auto command = std::make_shared<CollectivesCommand>();
  CLI::App& sub = *app.add_subcommand("collectives", "constants of collectives from measured ones");
  sub.footer(
      "Example:\n  foretrain fit collectives --data measurements/collectives -o collectives.json\n"
      "  foretrain fit collectives --data measurements/collectives --without Vista -o other.json");
  sub.add_option("--data", command->data, "folder of files of collectives")->required();
  sub.add_option("-o,--output", command->output, "the predictor file to write")->required();
  sub.add_option("--start", command->start, "start from this file, not from what is shipped");
  sub.add_option("--without", command->fit.without, "leave this cluster out; may be repeated");
  sub.add_option("--evaluations", command->fit.evaluations, "effort")->check(CLI::Range(1, 100000));
  sub.callback([command] { run_collectives(*command); });
}

struct IntervalsCommand {
  std::string data;
  std::string output;
  std::string rows;
  IntervalsFit fit;
};

void show(const SourceScore& one) {
  std::printf(
      "  %-20s %6zu rows  covered %5.1f %%  high/low %5.2f  score %5.2f (one ratio: %5.1f %%, "
      "%5.2f)\n",
      one.source.c_str(), one.rows, 100 * one.coverage, std::exp(one.width), one.score,
      100 * one.constant_cover, one.constant_score);
}

std::string traits_text(const Rule& rule) {
  std::string text;
  for (const Trait which : rule.traits)
    text += (text.empty() ? "" : ", ") + std::string(trait_name(which));
  return text.empty() ? "nothing" : text;
}

void run_intervals(const IntervalsCommand& command) {
  const Library library = load_library();
  const FittedIntervals fitted = fit_intervals(command.data, command.fit, library);
  std::printf("each source left out of its own intervals, the choice of regimes included:\n");
  for (const SourceScore& one : fitted.sources) show(one);
  for (const SourceScore& one : pooled(fitted.sources)) show(one);
  if (!command.rows.empty()) {
    std::string text = judged_header() + "\n";
    for (const JudgedCase& one : fitted.cases) text += judged_line(one) + "\n";
    write_file(command.rows, text);
  }
  std::vector<std::string> notes;
  for (const SourceScore& one : fitted.sources) {
    notes.push_back(one.source + ": " + std::to_string(one.rows) + " rows");
  }
  for (const std::string& name : command.fit.without) notes.push_back("without " + name);
  std::printf("regimes by %s; %zu cells; %.3g of the rows beyond each end\n",
              traits_text(fitted.rule).c_str(), fitted.intervals.cells.size(), fitted.rule.tail);
  if (command.output.empty()) return;
  write_file(command.output, write_intervals(fitted.intervals, notes));
}

void add_intervals(CLI::App& app) {
  auto command = std::make_shared<IntervalsCommand>();
  CLI::App& sub = *app.add_subcommand("intervals", "how far measured steps lie from predictions");
  sub.footer(
      "Example:\n  foretrain fit intervals --data measurements/training -o "
      "data/predictors/intervals.json");
  sub.add_option("--data", command->data, "folder of training measurements")->required();
  sub.add_option("-o,--output", command->output, "the file to write; without it only the table");
  sub.add_option("--rows", command->rows,
                 "write a CSV line per step: its interval, source left out");
  sub.add_option("--without", command->fit.without,
                 "rows that are judged but never fitted: FILE or FILE/DEVICE")
      ->delimiter(',');
  sub.add_option("--traits", command->fit.conformal.most_traits,
                 "words of a regime, at most (1); few sources support few")
      ->check(CLI::Range(0, 8));
  sub.add_option("--coarser", command->fit.conformal.coarser,
                 "sources as which the coarser regime's rows count (2)")
      ->check(number_range(0.1, 100));
  sub.add_option("--confidence", command->fit.conformal.confidence, "share that is covered (0.9)")
      ->check(number_range(0.5, 0.99));
  sub.callback([command] { run_intervals(*command); });
}

struct FrameworkCommand {
  std::string name;
  std::string data;
  std::string output;
  FrameworkFit fit;
};

void run_framework(const FrameworkCommand& command) {
  const Library library = load_library();
  const std::vector<MeasuredStep> steps =
      framework_steps(command.data, command.name, command.fit, library);
  const FittedFramework fitted = fit_framework(command.name, steps, command.fit, library);
  for (const cost::FrameworkNumber& number : cost::framework_numbers()) {
    std::printf("  %-18s %.4g\n", number.name, fitted.framework.*number.place);
  }
  std::printf("  mean error of %zu steps %.1f %% -> %.1f %%\n", steps.size(),
              100 * std::expm1(fitted.before), 100 * std::expm1(fitted.after));
  std::string note = std::to_string(steps.size()) + " measured steps";
  for (const std::string& model : command.fit.without) note += ", without " + model;
  write_file(command.output, cost::write_framework(fitted.framework, std::span(&note, 1)));
}

void add_framework(CLI::App& app) {
  auto command = std::make_shared<FrameworkCommand>();
  CLI::App& sub = *app.add_subcommand(
      "framework", "what a framework costs besides operators, from measured steps");
  sub.footer(
      "Example:\n  foretrain fit framework adaptdl --data pollux.csv --without NeuMF -o "
      "adaptdl.json\n"
      "  foretrain evaluate --data pollux.csv --predictor adaptdl.json --by model");
  sub.add_option("name", command->name, "the framework")->required();
  sub.add_option("--data", command->data, "CSV file of training measurements")->required();
  sub.add_option("-o,--output", command->output, "the predictor file to write")->required();
  sub.add_option("--without", command->fit.without, "leave these models out")->delimiter(',');
  sub.add_option("--rows", command->fit.rows, "steps of each model")->check(CLI::Range(1, 10000));
  sub.add_option("--evaluations", command->fit.evaluations, "effort")->check(CLI::Range(1, 100000));
  sub.callback([command] { run_framework(*command); });
}

}  // namespace

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(ErrorKind::Io, named(path) + ": cannot be written");
  std::printf("written: %s\n", path.c_str());
}

int run(int count, char** arguments) {
  CLI::App app("trains predictors from measurements", "foretrain fit");
  app.require_subcommand(1);
  add_operators(app);
  add_collectives(app);
  add_calibration_command(app);
  add_intervals(app);
  add_framework(app);
  try {
    app.parse(count, arguments);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Error& error) {
    std::cerr << "foretrain: " << error.what() << "\n";
    return error.kind() == ErrorKind::Io ? 1 : 2;
  } catch (const std::exception& error) {
    std::cerr << "foretrain: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace foretrain::fit
