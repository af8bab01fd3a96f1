// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/reduce_scatter.h"

#include <cassert>

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {

Seconds reduce_scatter(double bytes, int ranks, const Link& link) {
  assert(ranks >= 1);
  const double steps = ranks - 1;
  return steps_time(steps, steps / ranks * bytes, link);
}

}  // namespace foretrain::comm
