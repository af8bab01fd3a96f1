// SPDX-License-Identifier: Apache-2.0
// A device's calibration from all that was measured on its machine: operators, collectives, traces
// of a profiler, steps.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/fit/calibration.h"

namespace foretrain::fit {

// A torch.profiler trace and what ran.
struct TracedRun {
  std::string file;
  Request request;
};

// Stores, folders or files (measured/open_tables.h); what is empty was not measured.
struct DeviceMeasurements {
  std::string data;         // runs with their steps
  std::string operators;    // timed one by one
  std::string collectives;  // timed one by one
  std::vector<TracedRun> traces{};
  std::string setting;                // of the lab: its runs alone; empty: the first
  std::optional<std::size_t> runs{};  // so many; of the lab 10, of different models
};

bool is_empty(const DeviceMeasurements& by);

struct UsedTrace {
  std::string file;
  std::size_t steps = 0;
  double step_s = 0;  // median; 0 where there is none
  std::size_t operators = 0;
  std::size_t used = 0;  // of these operators
};

struct FoundCalibration {
  Calibration calibration;
  std::string by;  // "12 measured operators"
  struct MeanError {
    const char* of;  // "operators", "steps"
    double before = 0;
    double after = 0;
  };
  std::optional<MeanError> error{};  // where predictions are compared with what they were found by
};

// Each may be empty.
struct CalibrationObserver {
  std::function<void(const UsedTrace&)> on_trace{};
  std::function<void(const FoundCalibration&)> on_found{};
};

// Operators and collectives first; steps begin from what these tell. Tells `observer` what each
// kind of measurement gave; returns the last. All must be of one kind of device: throws
// Error(BadInput) where they are not, and what readers and predictions throw.
FoundCalibration calibrate_device(const DeviceMeasurements& by, const CalibrationFit& options,
                                  Library library, const CalibrationObserver& observer);

}  // namespace foretrain::fit
