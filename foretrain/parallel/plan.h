// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::parallel {

// Bytes over the network, of the busiest node of each role.
struct Traffic {
  double worker_tx_bytes = 0;
  double worker_rx_bytes = 0;
  double server_tx_bytes = 0;
  double server_rx_bytes = 0;
};
Traffic scaled(const Traffic& traffic, double factor);

// One communication node: how long it takes and what it moves.
struct Exchange {
  Seconds time{0};
  Traffic traffic{};
  Seconds host{0};  // that the host needs to issue it, on the reference machine
};

// What the communication of one step costs.
struct ExchangePlan {
  std::vector<Exchange> exchanges;  // of each communication node of the step, in their order
  Seconds servers_busy{0};  // asynchronous: what all workers' exchanges take a step's servers
  Seconds per_gradient{0};  // time of a CPU itself, whose threads exchange: for each gradient,
  double per_gradient_byte_s = 0;  // and for each of its bytes
  double gradient_copies = 0;      // operators of a GPU that copy each gradient
  double host_bytes_per_s = 0;     // of the host's memory, for updates of one device there
  double kernel_slowdown = 0;      // share of a GPU's speed that kernels lose beside a collective
  std::vector<std::string> assumptions;
};

}  // namespace foretrain::parallel
