// SPDX-License-Identifier: Apache-2.0
// Measured steps with what ran: JSON lines as the Python package's StepRecorder writes them, and
// the steps of a profiler's trace. Both are tables of runs with the store's columns (lab_runs.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "foretrain/measured/table.h"

namespace foretrain::measured {

// Reads lines {"request": {...}, "step_time_s": 0.12, "exposed_communication_s": 0.03, "steps": 80,
// "started": "2026-11-16T02:47:09Z"}; all but the first two may be missing. Times are medians over
// the run's `steps`. Throws Error naming the line: BadInput; Io; NotFound where there is no line.
Table step_table(const std::filesystem::path& file);

// Lines of such a file; `where` begins every message.
Table parse_steps(std::string_view text, const std::string& name, const std::string& where);

// The one run of a trace that torch.profiler wrote; `request` is JSON. Throws Error as
// read_torch_trace and parse_request do, NotFound where the trace has no step.
Table trace_table(const std::filesystem::path& file, const std::string& request);

}  // namespace foretrain::measured
