// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/broadcast.h"

#include <cassert>

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {

Seconds broadcast(double bytes, int ranks, const Link& link) {
  assert(ranks >= 1);
  return steps_time(ranks - 1.0, bytes, link);
}

}  // namespace foretrain::comm
