// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/broadcast.h"

#include <cassert>

#include "foretrain/comm/transfer.h"

namespace foretrain::comm {

Seconds broadcast(double bytes, int ranks, const hw::Link& link) {
  assert(ranks >= 1);
  if (ranks == 1) return Seconds{0};
  return (ranks - 1.0) * link.latency + transfer_time(bytes, link);
}

}  // namespace foretrain::comm
