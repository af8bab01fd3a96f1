// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foretrain/hw/catalog.h"
#include "foretrain/hw/instance.h"

namespace foretrain::hw {

// Reads a file of data/hardware/clouds/: one provider's instances and their prices. Devices and
// links are looked up in `catalog`. Throws Error: BadInput, NotFound.
std::vector<Instance> parse_cloud(std::string_view text, const std::string& where,
                                  const Catalog& catalog);

}  // namespace foretrain::hw
