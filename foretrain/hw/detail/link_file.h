// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/hw/detail/facts.h"
#include "foretrain/hw/link.h"

namespace foretrain::hw {

inline constexpr double kLeastBytesPerS = 1e3;
inline constexpr double kMostBytesPerS = 1e13;
inline constexpr int kMostNics = 64;

// The link that a sheet describes; see parse_link, which is this after read_facts.
Link link_of(const FactSheet& sheet, const AssumedLink& assumed,
             std::vector<std::string>* assumptions);

// Of the file data/hardware/assumed/link.json.
AssumedLink assumed_link_of(const FactSheet& sheet);

}  // namespace foretrain::hw
