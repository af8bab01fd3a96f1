// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/fit/intervals.h"

namespace foretrain::cli {
namespace {

struct IntervalsCommand {
  std::string data;
  std::string output;
  std::string rows;
  fit::IntervalsFit options;
};

std::string describe(const fit::SourceScore& one) {
  return format(
      "  %-20s %6zu rows  covered %5.1f %%  high/low %5.2f  score %5.2f (one ratio: %5.1f %%, "
      "%5.2f)",
      one.source.c_str(), one.rows, 100 * one.coverage, std::exp(one.width), one.score,
      100 * one.constant_cover, one.constant_score);
}

// exp(width): how many times wider, or narrower, an effect makes an interval.
std::string describe(const std::string& name, const Effect& effect) {
  return format("  %-28s times %.2f", name.c_str(), std::exp(effect.width));
}

void show(const fit::FittedIntervals& fitted, FitOutput& output) {
  output.say("each source left out of its own intervals:");
  for (const fit::SourceScore& one : fitted.sources) output.say(describe(one));
  for (const fit::SourceScore& one : fit::pooled(fitted.sources)) output.say(describe(one));
  const Spread& spread = fitted.intervals.spread;
  output.say("what makes intervals wide (logarithms of their ends):");
  for (const auto& [which, effects] : spread.words) {
    for (const auto& [text, effect] : effects) {
      output.say(describe(std::string(trait_name(which)) + " " + text, effect));
    }
  }
  output.say(describe("all of it communication", spread.communication));
  output.say(describe("all of it waits for the host", spread.host));
}

void run_intervals(const IntervalsCommand& command, Console& console) {
  FitOutput rows(command.rows, console);
  FitOutput output(command.output, console);
  const fit::FittedIntervals fitted =
      fit::fit_intervals(command.data, command.options, load_library());
  if (command.rows != "-") show(fitted, output);
  std::string text = fit::judged_header() + "\n";
  for (const fit::JudgedCase& one : fitted.cases) text += fit::judged_line(one) + "\n";
  rows.write(text);
  std::vector<std::string> notes;
  for (const fit::SourceScore& one : fitted.sources) {
    notes.push_back(one.source + ": " + std::to_string(one.rows) + " rows");
  }
  for (const std::string& name : command.options.without) notes.push_back("without " + name);
  output.write(write_intervals(fitted.intervals, notes));
}

}  // namespace

void add_fit_intervals(Command& app, Console& console) {
  auto command = std::make_shared<IntervalsCommand>();
  Command& sub = app.add_subcommand("intervals", "how far measured steps lie from predictions");
  sub.footer(
      "Example:\n  foretrain fit intervals --data measurements/training -o "
      "data/predictors/intervals.json");
  sub.add_option("--data", command->data, "folder of training measurements, three files or more")
      .required();
  sub.add_option("-o,--output", command->output, "the file to write; without it only the table");
  sub.add_option("--rows", command->rows,
                 "write a CSV line per step: its interval, source left out");
  sub.add_option("--without", command->options.without,
                 "rows that are judged but never fitted: FILE or FILE/DEVICE")
      .delimiter(',');
  sub.add_option("--models", command->options.models,
                 "the folder of model files that requests name, as of evaluate");
  sub.add_option("--confidence", command->options.spread.confidence, "share that is covered (0.9)")
      .check(number_range(0.5, 0.99));
  sub.callback([command, &console] { run_intervals(*command, console); });
}

}  // namespace foretrain::cli
