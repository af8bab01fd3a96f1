// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "foretrain/base/seconds.h"

namespace foretrain::hw {

// What joins devices inside a node or nodes with each other, as its datasheet describes it.
// Full duplex: the rate holds in each direction at once.
struct Link {
  std::string name;
  Seconds latency{0};
  double bytes_per_s = 0;     // of one NIC, or of one device's port inside a node; nominal
  int nics = 1;               // of each node
  std::optional<double> flow_cap_bytes_per_s;  // what one TCP flow reaches; RDMA has no cap
  bool rdma = true;           // false: TCP over sockets
  bool switched = false;      // all-to-all at full rate (NVSwitch); false: a bus or direct links
  bool peer_access = true;    // false: copies between devices pass through host memory
  Seconds ramp{0};            // how slowly small transfers reach the rate: V bytes take
                              // V/b (1 + (ramp b / V)^0.66); 0: at once
};

// Rate that one node reaches over all its NICs: the sum of min(efficiency * nominal, flow cap).
// Source of 0.93: RECIPES fit of NCCL over Ethernet and InfiniBand; docs/models.md.
double node_bytes_per_s(const Link& link);

}  // namespace foretrain::hw
