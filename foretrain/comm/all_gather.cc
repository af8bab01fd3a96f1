// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/all_gather.h"

#include <cassert>

#include "foretrain/comm/transfer.h"

namespace foretrain::comm {

Seconds all_gather(double bytes, int ranks, const hw::Link& link) {
  assert(ranks >= 1);
  const double steps = ranks - 1;
  return steps * link.latency + transfer_time(steps / ranks * bytes, link);
}

}  // namespace foretrain::comm
