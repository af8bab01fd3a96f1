// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "foretrain/base/seconds.h"
#include "foretrain/comm/path.h"

namespace foretrain::comm {

struct AllReduce {
  Seconds time{0};
  std::string_view algorithm = "none";  // "ring", "tree", "hierarchical"; "none" for one rank
};

// Time for all ranks to sum `bytes` each, by the algorithm that is fastest, as a library that
// measures or models its choices would (NCCL):
//
//   ring          over all ranks
//   tree          a chain inside each node, two trees over the nodes:
//                 2 ((g-1) c a + ceil(log2 N) A) + 2 n / B, B the slowest rate of all links, c
//                 the link's `chain`
//   hierarchical  three stages; needs RDMA and equally many devices, more than one, on each of
//                 several nodes
//
// More bytes never take less time, more bandwidth never more. One rank is free.
// Assumes no other traffic. Sources: ring.h, tree.h, hierarchical.h.
AllReduce all_reduce(double bytes, const Path& path);

}  // namespace foretrain::comm
