// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// Time for one of `ranks` workers to hand `bytes` to all others along a chain, in small pieces
// that each rank passes on while it receives the next (NCCL's broadcast).
//
//   t = (p-1) a + n / b     a: latency, b: bytes per second
//
// Assumes full-duplex links without other traffic, and pieces small beside n. One rank is free.
// Source: Watts, van de Geijn, Parallel Processing Letters 1995.
Seconds broadcast(double bytes, int ranks, const Link& link);

}  // namespace foretrain::comm
