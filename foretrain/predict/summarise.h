// SPDX-License-Identifier: Apache-2.0
// The parts of a report, each read off the stages of a prediction.
#pragma once

#include <vector>

#include "foretrain/predict/predict.h"

namespace foretrain {

// One worker's period, were its input always there.
Seconds own_step_time(const Stages& stages);

// The class of workers whose stream ends last: the one that the step waits for.
const WorkerClass& slowest_class(const Stages& stages);

// Where the step's time goes on the slowest worker; `input` is what the input pipeline adds.
Breakdown break_down(const Stages& stages, Seconds input);

std::vector<OperatorReport> top_operators(const Stages& stages, std::size_t most);

// The device that the step waits for.
const hw::Device& slowest_device(const Stages& stages);

// The interval of the step, and warnings where it lies outside of what was measured.
void report_trust(const Stages& stages, const Request& request, Report& report);

MemoryReport report_memory(const Stages& stages, const Request& request);

// Fills report.window, worker and server from the timeline of a step that repeats every `period`.
void report_resources(const Stages& stages, Seconds period, Report& report);

// Epoch, total time and cost, from the step time and the request's length.
void report_job(const Stages& stages, const Request& request, const Library& library,
                Report& report);

}  // namespace foretrain
