// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// Time for `ranks` workers that hold n/p bytes each to hold all n afterwards, around a ring;
// `bytes` is n, what each has in the end: p-1 steps that move n/p bytes on every link.
//
//   t = (p-1) (a + n / (p b))     a: latency, b: bytes per second
//
// Assumes full-duplex links without other traffic. One rank is free.
// Source: Patarasuk, Yuan, JPDC 2009.
Seconds all_gather(double bytes, int ranks, const Link& link);

}  // namespace foretrain::comm
