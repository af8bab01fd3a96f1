// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/ring.h"

#include <cassert>

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {

Seconds ring_all_reduce(double bytes, int ranks, const Link& link) {
  assert(ranks >= 1);
  const double steps = 2.0 * (ranks - 1);
  return steps_time(steps, steps / ranks * bytes, link);
}

}  // namespace foretrain::comm
