// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// The predicted timeline of one step in the Chrome trace format (opens in Perfetto).
std::string to_chrome_trace(const Stages& stages, const hw::Cluster& cluster);

// A stage as JSON: "graph" (in .ftg.json), "tasks", "timeline", or "memory": what the step's
// tensors hold, from which node to which, without the allocator's rounding; of a pipeline on the
// first rank and on the one that needs most. Throws Error(BadInput).
std::string dump_stage(const Stages& stages, const Resolved& resolved, const std::string& stage);

}  // namespace foretrain::operators
