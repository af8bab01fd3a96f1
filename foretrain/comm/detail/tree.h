// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// Time for `ranks` workers to sum `bytes` each over two binary trees, half of the bytes in each:
// up to the root, then down. A rank that is inside one tree is a leaf of the other, so it sends
// and receives 2n bytes; the pieces follow each other without gaps.
//
//   t = 2 ceil(log2 p) a + 2 n / b     a: latency, b: bytes per second
//
// Fewer steps than a ring, somewhat more bytes: better for many ranks and few bytes. An upper
// bound for two and three ranks, whose trees have less to send. One rank is free.
// Source: Sanders, Speck, Traff, Parallel Computing 2009; NCCL 2.4.
Seconds tree_all_reduce(double bytes, int ranks, const Link& link);

}  // namespace foretrain::comm
