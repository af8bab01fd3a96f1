// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/cli/given_request.h"
#include "foretrain/fit/device_calibration.h"

namespace foretrain::cli {
namespace {

struct CalibrationCommand {
  fit::DeviceMeasurements by;
  std::vector<std::string> traces;
  std::vector<std::string> requests;  // of each trace
  std::string output;
  fit::CalibrationFit options;
};

std::string describe(const fit::UsedTrace& trace) {
  return format("  %s: %zu steps, median %.3f ms; %zu operators of %zu are used",
                trace.file.c_str(), trace.steps, 1e3 * trace.step_s, trace.used, trace.operators);
}

void show(const fit::FoundCalibration& found, FitOutput& output) {
  const Calibration& machine = found.calibration;
  output.say(
      format("  %s by %s: compute x %.3f, memory x %.3f, host x %.3f, network x %.3f, input x %.3f",
             machine.device.c_str(), found.by.c_str(), machine.compute, machine.memory,
             machine.host, machine.network, machine.input));
  if (machine.input_rate > 0) {
    output.say(format("  input delivers %.0f samples/s to a worker", machine.input_rate));
  }
  if (!found.error) return;
  output.say(format("  mean error of these %s %.1f %% -> %.1f %%", found.error->of,
                    100 * found.error->before, 100 * found.error->after));
}

void run_calibration(const CalibrationCommand& command, Console& console) {
  fit::DeviceMeasurements by = command.by;
  if (command.traces.size() != command.requests.size()) {
    throw Error(ErrorKind::BadInput,
                "each --trace needs its --request: what ran, as `predict` is asked for it");
  }
  for (std::size_t i = 0; i < command.traces.size(); ++i) {
    by.traces.push_back(
        {command.traces[i], parse_request(given_request(command.requests[i]), "--request")});
  }
  if (fit::is_empty(by)) {
    throw Error(ErrorKind::BadInput,
                "nothing to calibrate by: give --data, --operators, --collectives or --trace");
  }
  FitOutput output(command.output, console);
  const fit::CalibrationObserver observer{
      [&](const fit::UsedTrace& trace) { output.say(describe(trace)); },
      [&](const fit::FoundCalibration& found) { show(found, output); }};
  const fit::FoundCalibration found =
      fit::calibrate_device(by, command.options, load_library(), observer);
  output.write(write_calibration(found.calibration, std::span(&found.by, 1)));
}

}  // namespace

void add_fit_calibration(Command& app, Console& console) {
  auto command = std::make_shared<CalibrationCommand>();
  Command& sub = app.add_subcommand("calibration", "speed of one device from a few measured steps");
  sub.footer(
      "Each line of the file is a step: {\"request\": {\"model\": \"resnet50\", ...}, "
      "\"step_time_s\": 0.12}\n"
      "Examples:\n  foretrain fit calibration --data steps.jsonl -o mine.json\n"
      "  foretrain predict bert-large --device t4 --predictors mine.json\n"
      "  foretrain fit calibration --trace trace.json --request '{\"model\": \"resnet50\", "
      "\"device\": \"t4\", \"batch\": 32}' -o mine.json\n"
      "  foretrain fit calibration --operators operators.csv --data runs.csv -o cpu.json");
  sub.add_option("--data", command->by.data,
                 "measured steps: a store, a folder that it exported, CSV of its runs, or JSON "
                 "lines as StepRecorder writes them");
  sub.add_option("--trace", command->traces,
                 "what torch.profiler's export_chrome_trace wrote: its steps, and its operators "
                 "where shapes were recorded; may be repeated")
      .allow_extra_args(false);
  sub.add_option("--request", command->requests, "what ran, for each --trace: JSON or a file of it")
      .allow_extra_args(false);
  sub.add_option("--runs", command->by.runs,
                 "so many of the runs (all; of the lab 10, of different models)")
      .check(number_range(1, 10000));
  sub.add_option("--setting", command->by.setting, "of the lab: runs of this setting (the first)");
  sub.add_option("--operators", command->by.operators,
                 "operators that `foretrain collect operators` timed, a store or CSV: where to "
                 "start from")
      .excludes("--trace");
  sub.add_option("--collectives", command->by.collectives,
                 "collectives that `foretrain collect collectives` timed, a store or CSV: the "
                 "network's bandwidth");
  sub.add_option("-o,--output", command->output, "the predictor file to write").required();
  sub.add_option("--usual", command->options.usual,
                 "how far such machines lie from the datasheet (0.5)")
      .check(number_range(0.01, 5));
  sub.add_option("--noise", command->options.noise, "how far steps lie from predictions (0.08)")
      .check(number_range(0.001, 5));
  sub.add_option("--factors", command->options.factors,
                 "find only these; the others stay as they are")
      .delimiter(',')
      .allow_extra_args(false)
      .one_of(fit::factor_names());
  sub.callback([command, &console] { run_calibration(*command, console); });
}

}  // namespace foretrain::cli
