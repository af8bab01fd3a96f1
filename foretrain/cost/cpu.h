// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/constants.h"
#include "foretrain/hw/device.h"

namespace foretrain::cost {

// How many times longer calls take on this CPU, or on its share of a core, than where they were
// counted.
double cpu_call_factor(const hw::Device& cpu, const CpuConstants& constants);

}  // namespace foretrain::cost
