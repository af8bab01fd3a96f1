// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/hw/detail/facts.h"
#include "foretrain/hw/link.h"

namespace foretrain::hw {

// What a network does where nobody says otherwise.
// Sources: fits of NCCL over Ethernet, TCP and InfiniBand; docs/models/collectives.md.
inline constexpr double kUsualEfficiency = 0.93;
inline constexpr Seconds kTcpLatency{27e-6};
inline constexpr Seconds kRdmaLatency{7e-6};

inline constexpr double kLeastBytesPerS = 1e3;
inline constexpr double kMostBytesPerS = 1e13;
inline constexpr int kMostNics = 64;

// The link that a sheet describes; see parse_link, which is this after read_facts.
Link link_of(const FactSheet& sheet, std::vector<std::string>* assumptions);

}  // namespace foretrain::hw
