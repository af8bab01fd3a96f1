// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/hw/link.h"

namespace foretrain::comm {

// A link as collectives see it: what its description says and what a library makes of it.
// comm::described and comm::tuned (constants.h) fill in the latter.
struct Link : hw::Link {
  Link() = default;
  Link(const hw::Link& link) : hw::Link(link) {}  // NOLINT(google-explicit-constructor)

  Seconds launch{0};       // of a collective, once
  double least_share = 0;  // of the rate, which transfers reach however small they are; 0: no bound
  double ramp_growth = 0;  // the ramp between N nodes is (N/2)^growth times as long
  int peers = 0;           // devices that a device is joined to directly, its rate shared equally
                           // among them; 0: a switch or a bus
  double chain = 1;  // latency of a step inside a node, as a part of a tree over several nodes ...
  double ring = 1;   // ... and of a ring over several nodes, against `latency`
  double shared_nic = 0;  // what each further device that sends over the same NIC costs a node; TCP
  double neighbour = 0;   // the same where each device has a NIC of its own; TCP
  double pair = 1;        // rate of one device's transfer to another alone, against that of a ring
  double ramp_exponent = 1;  // V bytes take V/b (1 + (ramp b / V)^exponent)
};

}  // namespace foretrain::comm
