// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/fit/memory_intervals.h"

namespace foretrain::cli {
namespace {

struct MemoryIntervalsCommand {
  std::string data;
  std::string output;
  std::string rows;
  fit::ConformalOptions options;
};

void show(const fit::FittedMemoryIntervals& fitted, FitOutput& output) {
  output.say("each source left out of its own intervals, the choice of regimes included:");
  std::vector<fit::SourceScore> scores = fitted.sources;
  for (const fit::SourceScore& one : fit::pooled(fitted.sources)) scores.push_back(one);
  for (const fit::SourceScore& one : scores) {
    output.say(format("  %-44s %5zu rows  covered %5.1f %%  high/low %5.2f  score %5.2f",
                      one.source.c_str(), one.rows, 100 * one.coverage, std::exp(one.width),
                      one.score));
  }
  std::string traits;
  for (const Trait which : fitted.rule.traits) traits += " " + std::string(trait_name(which));
  output.say(format("regimes by%s; %zu cells; %.3g of the rows beyond each end",
                    traits.empty() ? " nothing" : traits.c_str(), fitted.intervals.cells.size(),
                    fitted.rule.tail));
}

std::string row_line(const fit::JudgedCase& one) {
  const evaluate::Case& row = one.measured;
  const Ends& ends = one.left_out.ends;
  return format("%s,%zu,%s,%.6g,%.6g,%.6g,%.6g\n", row.file.c_str(), row.line,
                word(row.regime, Trait::Counter).c_str(), row.measured, row.predicted,
                row.predicted * std::exp(ends.low), row.predicted * std::exp(ends.high));
}

void run_memory_intervals(const MemoryIntervalsCommand& command, Console& console) {
  FitOutput rows(command.rows, console);
  FitOutput output(command.output, console);
  const fit::FittedMemoryIntervals fitted =
      fit::fit_memory_intervals(command.data, command.options, load_library());
  if (command.rows != "-") show(fitted, output);
  std::string text = "source,line,counter,measured,predicted,low,high\n";
  for (const fit::JudgedCase& one : fitted.cases) text += row_line(one);
  rows.write(text);
  std::vector<std::string> notes{"foretrain fit memory-intervals --data DIR/training"};
  for (const fit::SourceScore& one : fitted.sources) {
    notes.push_back(one.source + ": " + std::to_string(one.rows) + " rows");
  }
  output.write(write_memory_intervals(fitted.intervals, notes));
}

}  // namespace

void add_fit_memory_intervals(Command& app, Console& console) {
  auto command = std::make_shared<MemoryIntervalsCommand>();
  Command& sub = app.add_subcommand("memory-intervals",
                                    "how far measured peaks of memory lie from predictions");
  sub.footer(
      "Example:\n  foretrain fit memory-intervals --data measurements/training -o "
      "data/predictors/memory_intervals.json");
  sub.add_option("--data", command->data, "training measurements: a folder, a file or a store")
      .required();
  sub.add_option("-o,--output", command->output, "the file to write; without it only the table");
  sub.add_option("--rows", command->rows,
                 "write a CSV line per peak: its interval, source left out");
  sub.add_option("--traits", command->options.most_traits,
                 "words of a regime, at most (1); few sources support few")
      .check(number_range(0, 6));
  sub.add_option("--confidence", command->options.confidence, "share that is covered (0.9)")
      .check(number_range(0.5, 0.99));
  sub.callback([command, &console] { run_memory_intervals(*command, console); });
}

}  // namespace foretrain::cli
