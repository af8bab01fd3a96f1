// SPDX-License-Identifier: Apache-2.0
// foretrain-fit: what `foretrain fit` runs. Its own program, so that the libraries for fitting do
// not slow down the start of predictions.
#include <string_view>

#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/program.h"

namespace foretrain::cli {
namespace {

void add_commands(Command& app, Console& console) {
  app.help_flag("-h,--help", "print this help");
  app.description("Trains predictors from measurements.");
  app.require_subcommand(1, 1);
  for (const auto add : {add_fit_operators, add_fit_collectives, add_fit_calibration,
                         add_fit_intervals, add_fit_framework, add_fit_exchange, add_fit_straggling,
                         add_fit_memory_context, add_fit_memory_intervals, add_fit_inspector,
                         add_fit_replay, add_fit_scaling, add_fit_embedding, add_transfer}) {
    add(app, console);
  }
}

}  // namespace
}  // namespace foretrain::cli

int main(int count, char** arguments) {
  using namespace foretrain::cli;
  // `foretrain transfer` is a command of its own to its user.
  const bool transfer = count > 1 && std::string_view(arguments[1]) == "transfer";
  return run_commands(transfer ? "foretrain" : "foretrain fit", add_commands, count, arguments);
}
