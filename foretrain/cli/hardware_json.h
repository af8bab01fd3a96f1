// SPDX-License-Identifier: Apache-2.0
// The hardware catalogs as JSON, all values with their sources. Each on one line.
#pragma once

#include <string>
#include <vector>

#include "foretrain/hw/catalog.h"

namespace foretrain::cli {

std::string device_json(const hw::DeviceEntry& entry);
std::string devices_json(const std::vector<const hw::DeviceEntry*>& entries);
std::string networks_json(const std::vector<const hw::LinkEntry*>& entries);
std::string clouds_json(const std::vector<const hw::Instance*>& instances);

}  // namespace foretrain::cli
