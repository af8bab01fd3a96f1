// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/tree.h"

#include <bit>
#include <cassert>

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {

Seconds tree_all_reduce(double bytes, int ranks, const Link& link) {
  assert(ranks >= 1);
  const double depth = std::bit_width(static_cast<unsigned>(ranks - 1));  // ceil(log2 p)
  return steps_time(2 * depth, 2 * bytes, link);
}

}  // namespace foretrain::comm
