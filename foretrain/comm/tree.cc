// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/tree.h"

#include <bit>
#include <cassert>

#include "foretrain/comm/transfer.h"

namespace foretrain::comm {

Seconds tree_all_reduce(double bytes, int ranks, const hw::Link& link) {
  assert(ranks >= 1);
  if (ranks == 1) return Seconds{0};
  const double depth = std::bit_width(static_cast<unsigned>(ranks - 1));  // ceil(log2 p)
  return 2 * depth * link.latency + transfer_time(2 * bytes, link);
}

}  // namespace foretrain::comm
