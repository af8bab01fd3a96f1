// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/device_calibration.h"

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/fit/cpu_operators.h"
#include "foretrain/fit/network_factor.h"
#include "foretrain/fit/operator_factors.h"
#include "foretrain/measured/lab_runs.h"
#include "foretrain/measured/torch_trace.h"
#include "foretrain/request/resolve.h"

namespace foretrain::fit {
namespace {

// What is known so far.
struct Known {
  std::vector<measured::MeasuredStep> steps;
  std::optional<FoundCalibration> machine;  // without the steps
};

[[noreturn]] void refuse_two(const std::string& where, const std::string& what,
                             const std::string& one, const std::string& other) {
  throw Error(ErrorKind::BadInput, where + what + " of " + printable(one) + " and of " +
                                       printable(other) + "; calibrate one device at a time");
}

void tell(const FoundCalibration& found, const CalibrationObserver& observer) {
  if (observer.on_found) observer.on_found(found);
}

FoundCalibration by_factors(const measured::OperatorCases& cases, const std::string& what,
                            const hw::Device& device, const Library& library) {
  const OperatorFactors factors =
      factors_by_operators(cases, device, *library.operators, library.catalog);
  return {factors.calibration, what,
          FoundCalibration::MeanError{"operators", std::expm1(factors.before),
                                      std::expm1(factors.after)}};
}

FoundCalibration by_operators(const std::string& file, const Library& library) {
  const measured::OperatorCases cases = measured::read_operators(file);
  if (cases.empty()) throw Error(ErrorKind::BadInput, named(file) + ": no operators");
  const std::string& name = cases.front()->device;
  for (const auto& one : cases) {
    if (one->device != name) refuse_two(named(file) + ": ", "operators", name, one->device);
  }
  const std::string what = std::to_string(cases.size()) + " measured operators";
  const hw::Device device = hw::find_device(library.catalog, name, nullptr);
  if (!hw::is_cpu(device)) return by_factors(cases, what, device, library);
  return {machine_of(cases, library.operators->constants, library.catalog), what};
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
measured::OperatorCases operators_of(const measured::TorchTrace& trace, const hw::Device& device,
                                     const Request& request) {
  const bool cpu = hw::is_cpu(device);
  if (trace.gpu && cpu) {
    throw Error(ErrorKind::BadInput, "the trace has kernels of a GPU, but its request asks for " +
                                         device.name + "; give the GPU as its device");
  }
  if (!trace.gpu && !cpu) return {};
  return measured::traced_operators(trace, device.name, request.precision);
}

void use_traces(const std::vector<TracedRun>& traces, const Library& shared,
                const CalibrationObserver& observer, Known& known) {
  Library library = copy_of(shared);
  measured::OperatorCases cases;
  std::optional<hw::Device> device;
  for (const TracedRun& run : traces) {
    const measured::TorchTrace trace = measured::read_torch_trace(run.file);
    const hw::Device here = device_of(run.request, library);
    if (device && device->name != here.name) refuse_two("", "traces", device->name, here.name);
    device = here;
    const double step_s = trace.steps_s.empty() ? 0 : measured::step_of(trace);
    if (step_s > 0) known.steps.push_back({run.request, step_s});
    measured::OperatorCases found = operators_of(trace, here, run.request);
    if (observer.on_trace) {
      observer.on_trace(
          {run.file, trace.steps_s.size(), step_s, trace.operators.size(), found.size()});
    }
    for (auto& one : found) cases.push_back(std::move(one));
  }
  if (cases.empty()) return;
  const std::string what = std::to_string(cases.size()) + " operators of traces";
  known.machine = by_factors(cases, what, *device, library);
  tell(*known.machine, observer);
}

// Beside operators of the same device, or alone.
void use_collectives(const std::string& file, const Library& library,
                     const CalibrationObserver& observer, Known& known) {
  const NetworkFactor found = network_by_collectives(measured::read_collectives(file), library);
  if (!known.machine) known.machine.emplace().calibration.device = found.device;
  FoundCalibration& machine = *known.machine;
  if (machine.calibration.device != found.device) {
    throw Error(ErrorKind::BadInput, "operators of " + machine.calibration.device +
                                         " and collectives of " + found.device +
                                         "; calibrate one device at a time");
  }
  machine.calibration.network = found.network;
  const std::string what = std::to_string(found.rows) + " measured collectives";
  tell({machine.calibration, what}, observer);
  machine.by += (machine.by.empty() ? "" : " and ") + what;
}

}  // namespace

bool is_empty(const DeviceMeasurements& by) {
  return by.data.empty() && by.operators.empty() && by.collectives.empty() && by.traces.empty();
}

FoundCalibration calibrate_device(const DeviceMeasurements& by, const CalibrationFit& options,
                                  Library library, const CalibrationObserver& observer) {
  Known known;
  if (!by.operators.empty()) {
    known.machine = by_operators(by.operators, library);
    tell(*known.machine, observer);
  }
  use_traces(by.traces, library, observer, known);
  if (!by.collectives.empty()) use_collectives(by.collectives, library, observer, known);
  if (known.machine) library.calibrations = {known.machine->calibration};
  if (!by.data.empty()) {
    for (measured::MeasuredStep& step : measured::calibration_runs(by.data, by.setting, by.runs)) {
      known.steps.push_back(std::move(step));
    }
  }
  if (known.steps.empty()) {
    if (!known.machine) throw Error(ErrorKind::BadInput, "no measurement to calibrate by");
    return *known.machine;
  }
  const FittedCalibration fitted = fit_calibration(known.steps, options, library);
  FoundCalibration found{fitted.calibration, std::to_string(fitted.steps) + " measured steps",
                         FoundCalibration::MeanError{"steps", fitted.before, fitted.after}};
  if (!by.data.empty()) found.calibration.startup_s = measured::startup_s(by.data, known.steps);
  tell(found, observer);
  return found;
}

}  // namespace foretrain::fit
