// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// Peak memory of the device with the smallest one, and whether the job fits.
MemoryReport report_memory(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::operators
