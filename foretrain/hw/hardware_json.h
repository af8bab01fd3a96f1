// SPDX-License-Identifier: Apache-2.0
// The hardware catalogs as JSON, all values with their sources. Each on one line.
#pragma once

#include <string>
#include <vector>

#include "foretrain/hw/catalog.h"

namespace foretrain::hw {

std::string device_json(const DeviceEntry& entry);
std::string devices_json(const std::vector<const DeviceEntry*>& entries);
std::string networks_json(const std::vector<const LinkEntry*>& entries);
std::string clouds_json(const std::vector<const Instance*>& instances);

}  // namespace foretrain::hw
