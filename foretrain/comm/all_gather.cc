// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/all_gather.h"

#include <cassert>

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {

Seconds all_gather(double bytes, int ranks, const Link& link) {
  assert(ranks >= 1);
  const double steps = ranks - 1;
  return steps_time(steps, steps / ranks * bytes, link);
}

}  // namespace foretrain::comm
