// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/train/fit_replay.h"

namespace foretrain::cli {
namespace {

struct ReplayCommand {
  std::string data;
  std::string output;
  std::string setting;
  std::string calibration;
};

void run_replay(const ReplayCommand& command, Console& console) {
  FitOutput output(command.output, console);
  Library library = load_library();
  const Predictor given = read_predictor(command.calibration);
  if (!given.calibration) {
    throw Error(ErrorKind::BadInput,
                "--calibration names no calibration; `foretrain fit calibration` writes one");
  }
  library.calibrations.push_back(*given.calibration);
  train::FittedReplay fitted =
      train::fit_replay(measured::resource_jobs(command.data), command.setting, library);
  for (const NumberPlace& number : inspector::named_numbers(fitted.constants)) {
    output.say(format("  %s.%s %.4g", number.group.c_str(), number.name.c_str(), *number.value));
  }
  output.say(format("  mean |log error| beside each number's own offset %.3f -> %.3f, %zu jobs",
                    fitted.before, fitted.after, fitted.jobs));
  const std::string note = format(
      "steps.* and activity.operators, activity.noise by %zu measured jobs; the test split took no "
      "part; the others as they were",
      fitted.jobs);
  output.write(inspector::write_replay_constants(fitted.constants, std::span(&note, 1)));
}

}  // namespace

void add_fit_replay(Command& app, Console& console) {
  auto command = std::make_shared<ReplayCommand>();
  Command& sub =
      app.add_subcommand("replay", "how much steps vary, which inspectors replay, from runs");
  sub.footer(
      "Example:\n  foretrain fit replay --data lab.db --calibration cpu.json -o replay.json\n"
      "The file takes the place of data/predictors/replay.json at the next build.");
  sub.add_option("--data", command->data, "runs of the lab: a store, or a folder that it exported")
      .required();
  sub.add_option("--calibration", command->calibration,
                 "of the machine, by `foretrain fit calibration`")
      .required();
  sub.add_option("--setting", command->setting, "learn from runs of this one only (all)");
  sub.add_option("-o,--output", command->output, "the file to write").required();
  sub.callback([command, &console] { run_replay(*command, console); });
}

}  // namespace foretrain::cli
