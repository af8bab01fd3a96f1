// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/fit/worker_costs.h"

namespace foretrain::cli {
namespace {

struct WorkersCommand {
  std::string data;
  std::string output;
  fit::WorkerFit options;
};

std::string note_of(std::size_t steps, std::size_t groups, const WorkersCommand& command) {
  std::string note =
      std::to_string(steps) + " measured steps in " + std::to_string(groups) + " groups";
  for (const std::string& model : command.options.without) note += ", without " + model;
  return note + "; what they do not decide is as it was";
}

void show(const std::vector<NumberPlace>& numbers, const fit::WorkerError& error,
          FitOutput& output) {
  for (const NumberPlace& number : numbers) {
    output.say(format("  %s.%s %.4g", number.group.c_str(), number.name.c_str(), *number.value));
  }
  output.say(format("  mean error beside each group's own factor %.1f %% -> %.1f %%",
                    100 * std::expm1(error.before), 100 * std::expm1(error.after)));
}

void run_workers(const WorkersCommand& command, bool exchange, Console& console) {
  FitOutput output(command.output, console);
  const Library library = load_library();
  const auto groups = fit::worker_steps(command.data, command.options, library);
  std::size_t steps = 0;
  for (const fit::StepGroup& group : groups) steps += group.size();
  const std::string note = note_of(steps, groups.size(), command);
  output.say("  " + note);
  if (exchange) {
    fit::FittedExchange fitted = fit::fit_exchange(groups, command.options, library);
    show(comm::named_numbers(fitted.costs), fitted.error, output);
    output.write(comm::write_exchange_costs(fitted.costs, std::span(&note, 1)));
  } else {
    fit::FittedStraggling fitted = fit::fit_straggling(groups, command.options, library);
    show(cost::named_numbers(fitted.straggling), fitted.error, output);
    output.write(cost::write_straggling(fitted.straggling, std::span(&note, 1)));
  }
}

void add_workers(Command& sub, bool exchange, Console& console) {
  auto command = std::make_shared<WorkersCommand>();
  sub.add_option("--data", command->data,
                 "measured steps of one and of several workers: a store, a folder or a file")
      .required();
  sub.add_option("-o,--output", command->output, "the predictor file to write").required();
  sub.add_option("--without", command->options.without, "leave these models out").delimiter(',');
  sub.add_option("--rows", command->options.rows, "steps in all, about")
      .check(number_range(1, 100000));
  sub.add_option("--evaluations", command->options.evaluations, "effort")
      .check(number_range(1, 100000));
  sub.callback([command, exchange, &console] { run_workers(*command, exchange, console); });
}

}  // namespace

void add_fit_exchange(Command& app, Console& console) {
  Command& sub =
      app.add_subcommand("exchange", "what an exchange of gradients costs besides its collectives");
  sub.footer(
      "Example:\n  foretrain fit exchange --data lab.db -o exchange.json\n"
      "  foretrain evaluate --data lab.db --predictor exchange.json");
  add_workers(sub, true, console);
}

void add_fit_straggling(Command& app, Console& console) {
  Command& sub = app.add_subcommand(
      "straggling", "how much slower a worker is among others, from measured steps");
  sub.footer("Example:\n  foretrain fit straggling --data pollux.csv -o straggling.json");
  add_workers(sub, false, console);
}

}  // namespace foretrain::cli
