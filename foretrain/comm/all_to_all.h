// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/path.h"

namespace foretrain::comm {

// Time for all ranks to send each other a p-th part of `bytes`, what one rank has for all: p-1
// messages. Those to the g-1 ranks on the same node and those to other nodes are under way at once.
//
//   t = (p-1) a + max((g-1)/p n / b, g (p-g)/p n / B)
//
// a: latency of a step of `flat`; b: rate of a device inside a node; B: of all the group's devices
// on a node together. Assumes equal parts and full-duplex links without other traffic. One rank is
// free. Source: Hockney, Parallel Computing 1994.
Seconds all_to_all(double bytes, const Path& path);

}  // namespace foretrain::comm
