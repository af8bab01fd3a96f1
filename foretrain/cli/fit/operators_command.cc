// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/fit/operators.h"
#include "foretrain/fit/steps.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::cli {
namespace {

struct OperatorsCommand {
  std::vector<std::string> data;
  std::string output;
  std::string start;
  std::string steps;
  fit::OperatorFit options;
};

std::string describe(const fit::FittedGroup& group) {
  return format("  %-18s %6zu rows  %2zu constants  error %.1f %% -> %.1f %%", group.name.c_str(),
                group.rows, group.constants, 100 * std::expm1(group.before),
                100 * std::expm1(group.after));
}

std::string note(const fit::FittedGroup& group, const fit::OperatorFit& options) {
  std::string text = group.name + ": " + std::to_string(group.rows) + " rows";
  for (const std::string& device : options.without) text += ", without " + device;
  return text;
}

void fit_to_steps(const OperatorsCommand& command, const Library& library, FitOutput& output,
                  cost::Constants& constants, std::vector<std::string>& notes) {
  const fit::StepsFit options{command.options.without, command.options.evaluations,
                              command.options.vary};
  const fit::FittedSteps fitted = fit::fit_steps(command.steps, options, library, constants);
  output.say(describe(fitted.group));
  notes.push_back(note(fitted.group, command.options));
  for (const auto& [device, machine] : fitted.machines) {
    output.say(format("  machine of %s: host x %.2f, copy x %.2f", device.c_str(), machine.host,
                      machine.copy));
  }
}

cost::Constants start_of(const OperatorsCommand& command, const Library& library) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  if (command.start.empty()) return library.operators->constants;
  return cost::read_constants(read_file(command.start, kLargest), named(command.start));
}

void run_operators(const OperatorsCommand& command, Console& console) {
  if (command.data.empty() && command.steps.empty()) {
    throw Error(ErrorKind::BadInput, "nothing to fit operators by: give --data, --steps or both");
  }
  const Library library = load_library();
  cost::Constants constants = start_of(command, library);
  FitOutput output(command.output, console);
  const auto tell = [&](const fit::FittedGroup& group) { output.say(describe(group)); };
  std::vector<std::string> notes;
  for (const std::string& data : command.data) {
    const fit::FittedOperators fitted =
        fit::fit_operators(data, constants, command.options, library.catalog, tell);
    constants = fitted.constants;
    for (const fit::FittedGroup& group : fitted.groups) {
      notes.push_back(note(group, command.options));
    }
  }
  if (!command.steps.empty()) fit_to_steps(command, library, output, constants, notes);
  output.write(cost::write_constants(constants, notes));
}

}  // namespace

void add_fit_operators(Command& app, Console& console) {
  auto command = std::make_shared<OperatorsCommand>();
  Command& sub =
      app.add_subcommand("operators", "constants of the operator model from measured operators");
  sub.footer(
      "Example:\n  foretrain fit operators --data measurements/operators -o operators.json\n"
      "  foretrain evaluate --data measurements/training --predictor operators.json");
  sub.add_option("--data", command->data,
                 "measured operators: stores, folders or files, one after another")
      .delimiter(',');
  sub.add_option("--steps", command->steps, "measured training steps: a store, a folder or a file");
  sub.add_option("-o,--output", command->output, "the predictor file to write").required();
  sub.add_option("--start", command->start, "start from this file, not from what is shipped");
  sub.add_option("--without", command->options.without,
                 "leave these devices, or models of steps, out; 'resnet*': all that begin so")
      .delimiter(',');
  sub.add_option("--vary", command->options.vary,
                 "constants to vary besides those that the rows decide; 'memory_bound.composed_': "
                 "all that begin so")
      .delimiter(',');
  sub.add_option("--evaluations", command->options.evaluations,
                 "effort for each group of constants")
      .check(number_range(1, 100000));
  sub.callback([command, &console] { run_operators(*command, console); });
}

}  // namespace foretrain::cli
