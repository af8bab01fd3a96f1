// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// Ring all-reduce: time for `ranks` workers to sum `bytes` each around a ring: reduce-scatter, then
// all-gather, each of p-1 steps that move n/p bytes on every link.
//
//   t = 2 (p-1) (a + n / (p b))     a: latency, b: bytes per second
//
// With a ramp, transfer_time gives the term of the 2 (p-1)/p n bytes. Assumes full-duplex links
// without other traffic. One rank is free.
// Source: Patarasuk, Yuan, JPDC 2009.
Seconds ring_all_reduce(double bytes, int ranks, const Link& link);

}  // namespace foretrain::comm
