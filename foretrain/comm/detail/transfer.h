// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// In all of `comm`, link.bytes_per_s is the rate that long transfers reach, efficiency and number
// of NICs included; path.h derives such links from a cluster. link.latency is that of one step.

// Time for which `bytes` occupy a link: the bandwidth term of every collective.
//
//   t = V/b min(1 + (r b / V)^e, 1/s)     V: bytes, b: bytes per second, r: ramp, e: its exponent,
//                                         s: least share of the rate (0: no bound)
//
// Small transfers do not reach the rate: at V = r b they take twice V/b. The smallest go by
// another protocol with a share s of the rate. More bytes never take less time, more bandwidth
// never more. Latency comes on top.
// Source: fit of NCCL all-reduce, all-gather and point-to-point on A100 and GH200 nodes, where it
// halves the error of V/b; docs/models/collectives.md.
Seconds transfer_time(double bytes, const Link& link);

// Time of a collective of `steps` messages one after the other, in which `bytes` in all pass
// every link: launch, steps times latency, transfer. Without steps nothing happens: no time.
Seconds steps_time(double steps, double bytes, const Link& link);

}  // namespace foretrain::comm
