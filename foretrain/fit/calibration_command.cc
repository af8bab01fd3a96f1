// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/evaluate/lab_runs.h"
#include "foretrain/evaluate/torch_trace.h"
#include "foretrain/fit/commands.h"
#include "foretrain/fit/cpu_operators.h"
#include "foretrain/fit/network_factor.h"
#include "foretrain/fit/operator_factors.h"
#include "foretrain/request/resolve.h"
#include "foretrain/tune/calibration.h"

namespace foretrain::fit {
namespace {

struct CalibrationCommand {
  std::string data;
  std::string operators;
  std::string collectives;
  std::vector<std::string> traces;
  std::vector<std::string> requests;  // of each trace
  std::string setting;
  std::size_t runs = 10;
  std::string output;
  tune::CalibrationFit fit;
};

// What there is to calibrate by.
struct Measured {
  std::vector<MeasuredStep> steps;
  std::optional<Calibration> machine;  // by operators
  std::string what;                    // "12 measured operators"
};

Request read_request(const std::string& text) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  const bool json = text.find_first_not_of(" \t\n") == text.find('{');
  return json ? parse_request(text, "--request")
              : parse_request(read_file(text, kLargest), named(text));
}

void show(const Calibration& found, const std::string& by) {
  std::printf("  %s by %s: compute x %.3f, memory x %.3f, host x %.3f, network x %.3f\n",
              found.device.c_str(), by.c_str(), found.compute, found.memory, found.host,
              found.network);
}

void use_factors(const evaluate::OperatorCases& cases, const hw::Device& device,
                 const Library& library, Measured& measured) {
  const OperatorFactors factors =
      factors_by_operators(cases, device, *library.operators, library.catalog);
  measured.machine = factors.calibration;
  show(*measured.machine, measured.what);
  std::printf("  mean error of these operators %.1f %% -> %.1f %%\n",
              100 * std::expm1(factors.before), 100 * std::expm1(factors.after));
}

void use_operators(const CalibrationCommand& command, const Library& library, Measured& measured) {
  const evaluate::OperatorCases cases = evaluate::read_operators(command.operators);
  if (cases.empty()) throw Error(ErrorKind::BadInput, named(command.operators) + ": no operators");
  const std::string& name = cases.front()->device;
  for (const auto& one : cases) {
    if (one->device == name) continue;
    throw Error(ErrorKind::BadInput, named(command.operators) + ": operators of " +
                                         printable(name) + " and of " + printable(one->device) +
                                         "; calibrate one device at a time");
  }
  measured.what = std::to_string(cases.size()) + " measured operators";
  const hw::Device device = hw::find_device(library.catalog, name, nullptr);
  if (!hw::is_cpu(device)) return use_factors(cases, device, library, measured);
  measured.machine = machine_of(cases, library.operators->constants, library.catalog);
  show(*measured.machine, measured.what);
}

// Beside operators of the same device, or alone.
void use_collectives(const CalibrationCommand& command, const Library& library,
                     Measured& measured) {
  const NetworkFactor found =
      network_by_collectives(evaluate::read_collectives(command.collectives), library.catalog);
  if (!measured.machine) measured.machine.emplace().device = found.device;
  if (measured.machine->device != found.device) {
    throw Error(ErrorKind::BadInput, "operators of " + measured.machine->device +
                                         " and collectives of " + found.device +
                                         "; calibrate one device at a time");
  }
  measured.machine->network = found.network;
  const std::string what = std::to_string(found.rows) + " measured collectives";
  show(*measured.machine, what);
  measured.what += (measured.what.empty() ? "" : " and ") + what;
}

// The device that a request runs on; a new one is added to the catalog.
hw::Device device_of(const Request& request, Library& library) {
  hw::Device device = resolve(request, library).cluster.devices.front();
  if (request.device && !request.device->json && !request.device->text.ends_with(".json")) {
    return device;
  }
  library.catalog.devices.push_back({device, {}, {}});
  return device;
}

// The host's spans say nothing of a GPU.
evaluate::OperatorCases operators_of(const evaluate::TorchTrace& trace, const hw::Device& device,
                                     const Request& request) {
  const bool cpu = hw::is_cpu(device);
  if (trace.gpu && cpu) {
    throw Error(ErrorKind::BadInput, "the trace has kernels of a GPU, but its request asks for " +
                                         device.name + "; give the GPU as its device");
  }
  if (!trace.gpu && !cpu) return {};
  return evaluate::traced_operators(trace, device.name, request.precision);
}

void use_traces(const CalibrationCommand& command, const Library& known, Measured& measured) {
  Library library = copy_of(known);
  evaluate::OperatorCases cases;
  std::optional<hw::Device> device;
  for (std::size_t i = 0; i < command.traces.size(); ++i) {
    const evaluate::TorchTrace trace = evaluate::read_torch_trace(command.traces[i]);
    const Request request = read_request(command.requests[i]);
    const hw::Device here = device_of(request, library);
    if (device && device->name != here.name) {
      throw Error(ErrorKind::BadInput, "traces of " + device->name + " and of " + here.name +
                                           "; calibrate one device at a time");
    }
    device = here;
    const double step_s = trace.steps_s.empty() ? 0 : evaluate::step_of(trace);
    if (step_s > 0) measured.steps.push_back({request, step_s});
    evaluate::OperatorCases found = operators_of(trace, here, request);
    std::printf("  %s: %zu steps, median %.3f ms; %zu operators of %zu are used\n",
                command.traces[i].c_str(), trace.steps_s.size(), 1e3 * step_s, found.size(),
                trace.operators.size());
    for (auto& one : found) cases.push_back(std::move(one));
  }
  if (cases.empty()) return;
  measured.what = std::to_string(cases.size()) + " operators of traces";
  use_factors(cases, *device, library, measured);
}

void write(const Calibration& found, const std::string& note, const std::string& file) {
  write_file(file, write_calibration(found, std::span(&note, 1)));
}

Measured measured_by(const CalibrationCommand& command, const Library& library) {
  if (command.data.empty() && command.operators.empty() && command.collectives.empty() &&
      command.traces.empty()) {
    throw Error(ErrorKind::BadInput,
                "nothing to calibrate by: give --data, --operators, --collectives or --trace");
  }
  if (command.traces.size() != command.requests.size()) {
    throw Error(ErrorKind::BadInput,
                "each --trace needs its --request: what ran, as `predict` is asked for it");
  }
  Measured measured;
  if (!command.operators.empty()) use_operators(command, library, measured);
  use_traces(command, library, measured);
  if (!command.collectives.empty()) use_collectives(command, library, measured);
  return measured;
}

void run_calibration(const CalibrationCommand& command) {
  Library library = load_library();
  Measured measured = measured_by(command, library);
  if (measured.machine) library.calibrations = {*measured.machine};
  const bool lab = command.data.ends_with(".csv");
  if (!command.data.empty()) {
    for (MeasuredStep& step :
         lab ? evaluate::calibration_runs(command.data, command.setting, command.runs)
             : tune::read_steps(command.data)) {
      measured.steps.push_back(std::move(step));
    }
  }
  if (measured.steps.empty()) {
    write(*measured.machine, measured.what, command.output);
    return;
  }
  tune::FittedCalibration fitted = tune::fit_calibration(measured.steps, command.fit, library);
  Calibration& found = fitted.calibration;
  if (lab) found.startup_s = evaluate::startup_s(command.data, measured.steps);
  const std::string by = std::to_string(fitted.steps) + " measured steps";
  show(found, by);
  std::printf("  mean error of these steps %.1f %% -> %.1f %%\n", 100 * fitted.before,
              100 * fitted.after);
  write(found, by, command.output);
}

}  // namespace

void add_calibration_command(CLI::App& app) {
  auto command = std::make_shared<CalibrationCommand>();
  CLI::App& sub =
      *app.add_subcommand("calibration", "speed of one device from a few measured steps");
  sub.footer(
      "Each line of the file is a step: {\"request\": {\"model\": \"resnet50\", ...}, "
      "\"step_time_s\": 0.12}\n"
      "Examples:\n  foretrain fit calibration --data steps.jsonl -o mine.json\n"
      "  foretrain predict bert-large --device t4 --predictors mine.json\n"
      "  foretrain fit calibration --trace trace.json --request '{\"model\": \"resnet50\", "
      "\"device\": \"t4\", \"batch\": 32}' -o mine.json\n"
      "  foretrain fit calibration --operators operators.csv --data runs.csv -o cpu.json");
  sub.add_option("--data", command->data,
                 "JSON lines of measured steps, or the lab's runs as CSV (store export)");
  sub.add_option("--trace", command->traces,
                 "what torch.profiler's export_chrome_trace wrote: its steps, and its operators "
                 "where shapes were recorded; may be repeated")
      ->allow_extra_args(false);
  sub.add_option("--request", command->requests, "what ran, for each --trace: JSON or a file of it")
      ->allow_extra_args(false);
  sub.add_option("--runs", command->runs, "of the lab: so many, of different models (10)")
      ->check(CLI::Range(1, 10000));
  sub.add_option("--setting", command->setting, "of the lab: runs of this setting (the first)");
  sub.add_option("--operators", command->operators,
                 "operators that `foretrain collect operators` timed: where to start from")
      ->excludes("--trace");
  sub.add_option("--collectives", command->collectives,
                 "collectives that `foretrain collect collectives` timed: the network's bandwidth");
  sub.add_option("-o,--output", command->output, "the predictor file to write")->required();
  sub.add_option("--usual", command->fit.usual,
                 "how far such machines lie from the datasheet (0.5)")
      ->check(number_range(0.01, 5));
  sub.add_option("--noise", command->fit.noise, "how far steps lie from predictions (0.08)")
      ->check(number_range(0.001, 5));
  sub.add_option("--factors", command->fit.factors, "find only these; the others stay as they are")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(tune::factor_names()));
  sub.callback([command] { run_calibration(*command); });
}

}  // namespace foretrain::fit
