// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/hw/detail/facts.h"
#include "foretrain/hw/device.h"

namespace foretrain::hw {

// The device that a sheet describes; see parse_device, which is this after read_facts.
Device device_of(const FactSheet& sheet, std::vector<std::string>* assumptions);

}  // namespace foretrain::hw
