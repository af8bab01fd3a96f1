// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// Time for `nodes` of `devices` workers each to sum `bytes` per worker in three stages:
// reduce-scatter inside every node; all-reduce of n/g bytes by each of the g devices with its
// counterparts on the other nodes, all g at once over the node's NICs; all-gather inside.
//
//   t = 2 (g-1) (a + n / (g b)) + 2 (N-1) (A + n / (N B))
//
// a, b: latency and rate of `inside`, for one device. A, B: of `across`, for a whole node: the
// devices share its rate, g times n/g bytes. The stages do not overlap, and each pays its own
// ramp. With one device per node this is the ring over the nodes.
// Source: Cho et al., BlueConnect, MLSys 2019.
Seconds hierarchical_all_reduce(double bytes, int nodes, int devices, const Link& inside,
                                const Link& across);

}  // namespace foretrain::comm
