// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/hw/detail/facts.h"
#include "foretrain/hw/host.h"

namespace foretrain::hw {

// Of the file data/hardware/assumed/host.json: fields `speed_ARCHITECTURE`, `cpu_FAMILY` and those
// of AssumedHost. Throws Error(BadInput).
AssumedHost assumed_host_of(const FactSheet& sheet);

}  // namespace foretrain::hw
