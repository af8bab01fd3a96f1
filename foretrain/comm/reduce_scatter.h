// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// Time for `ranks` workers to sum `bytes` each around a ring so that each keeps its n/p of the
// result: p-1 steps that move n/p bytes on every link.
//
//   t = (p-1) (a + n / (p b))     a: latency, b: bytes per second
//
// Assumes full-duplex links without other traffic. One rank is free.
// Source: Patarasuk, Yuan, JPDC 2009.
Seconds reduce_scatter(double bytes, int ranks, const Link& link);

}  // namespace foretrain::comm
