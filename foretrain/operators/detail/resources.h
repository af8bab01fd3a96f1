// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// Bursts and idles of each resource while the step repeats, on the slowest worker and the busiest
// server.
ResourcesReport report_resources(const Stages& stages, const Resolved& resolved,
                                 const MemoryReport& memory);

}  // namespace foretrain::operators
