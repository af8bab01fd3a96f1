// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::hw {

// What joins devices inside a node or nodes with each other, as its datasheet describes it.
// Full duplex: the rate holds in each direction at once.
struct Link {
  std::string name{};
  Seconds latency{0};      // of one step of a collective: one message to a neighbour
  double bytes_per_s = 0;  // of one NIC, or of one device's port inside a node; nominal
  double efficiency = 1;   // share of the nominal rate that long transfers reach
  int nics = 1;            // of each node
  std::optional<double> flow_cap_bytes_per_s{};  // what one TCP flow reaches; RDMA has no cap
  bool rdma = true;                              // false: TCP over sockets
  bool switched = false;    // all-to-all at full rate (NVSwitch); false: a bus or direct links
  bool peer_access = true;  // false: copies between devices pass through host memory
  Seconds ramp{0};          // how slowly small transfers reach the rate: V bytes take
                            // V/b (1 + (ramp b / V)^e), e as collectives' constants
                            // say; 0: at once
};

// Rate that long transfers reach: over all NICs of a node, or from one device inside a node.
// The sum over NICs of min(efficiency * nominal, flow cap).
double node_bytes_per_s(const Link& link);

// What a link does where its description does not say; data/hardware/assumed/link.json has the
// numbers with their sources.
struct AssumedLink {
  double efficiency = 1;
  Seconds tcp_latency{0};   // of one step of a collective
  Seconds rdma_latency{0};  // likewise
};

// Reads a link that a user describes, `text` being a JSON object with bytes_per_s and optionally
// name, latency_s, nics, flow_cap_bytes_per_s, rdma, efficiency, ramp_s, switched, peer_access.
// Missing: one NIC, RDMA unless there is a flow cap, switched, no ramp; latency and efficiency
// are `assumed` and added to `assumptions`. `where` begins every message.
// Throws Error(BadInput) for unknown fields and for values that no link has.
Link parse_link(std::string_view text, const std::string& where, const AssumedLink& assumed,
                std::vector<std::string>* assumptions);

}  // namespace foretrain::hw
