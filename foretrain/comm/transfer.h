// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/hw/link.h"

namespace foretrain::comm {

// In all of `comm`, link.bytes_per_s is the rate that long transfers reach, efficiency and number
// of NICs included; path.h derives such links from a cluster. link.latency is that of one step.

// Time for which `bytes` occupy a link: the bandwidth term of every collective.
//
//   t = V/b (1 + (r b / V)^0.66)     V: bytes, b: bytes per second, r: ramp
//
// Small transfers do not reach the rate: at V = r b they take twice V/b. More bytes never take
// less time, more bandwidth never more. Latency comes on top.
// Source: fit of NCCL all-reduce, all-gather and point-to-point on A100 and GH200 nodes, where it
// halves the error of V/b; docs/models.md.
Seconds transfer_time(double bytes, const hw::Link& link);

}  // namespace foretrain::comm
