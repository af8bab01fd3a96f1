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

std::string describe(const fit::Rule& rule) {
  std::string text;
  for (const Trait which : rule.traits) {
    text += (text.empty() ? "" : ", ") + std::string(trait_name(which));
  }
  return text.empty() ? "nothing" : text;
}

void show(const fit::FittedIntervals& fitted, FitOutput& output) {
  output.say("each source left out of its own intervals, the choice of regimes included:");
  for (const fit::SourceScore& one : fitted.sources) output.say(describe(one));
  for (const fit::SourceScore& one : fit::pooled(fitted.sources)) output.say(describe(one));
  output.say(format("regimes by %s; %zu cells; %.3g of the rows beyond each end",
                    describe(fitted.rule).c_str(), fitted.intervals.cells.size(),
                    fitted.rule.tail));
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
  sub.add_option("--data", command->data, "folder of training measurements").required();
  sub.add_option("-o,--output", command->output, "the file to write; without it only the table");
  sub.add_option("--rows", command->rows,
                 "write a CSV line per step: its interval, source left out");
  sub.add_option("--without", command->options.without,
                 "rows that are judged but never fitted: FILE or FILE/DEVICE")
      .delimiter(',');
  sub.add_option("--traits", command->options.conformal.most_traits,
                 "words of a regime, at most (1); few sources support few")
      .check(number_range(0, 8));
  sub.add_option("--coarser", command->options.conformal.coarser,
                 "sources as which the coarser regime's rows count (2)")
      .check(number_range(0.1, 100));
  sub.add_option("--confidence", command->options.conformal.confidence,
                 "share that is covered (0.9)")
      .check(number_range(0.5, 0.99));
  sub.callback([command, &console] { run_intervals(*command, console); });
}

}  // namespace foretrain::cli
