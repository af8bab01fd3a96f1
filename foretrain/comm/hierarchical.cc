// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/hierarchical.h"

#include "foretrain/comm/all_gather.h"
#include "foretrain/comm/detail/ring.h"
#include "foretrain/comm/reduce_scatter.h"

namespace foretrain::comm {

Seconds hierarchical_all_reduce(double bytes, int nodes, int devices, const Link& inside,
                                const Link& across) {
  Seconds time{0};
  if (nodes > 1) time += ring_all_reduce(bytes, nodes, across);
  if (devices > 1) {
    time += reduce_scatter(bytes, devices, inside) + all_gather(bytes, devices, inside);
  }
  return time;
}

}  // namespace foretrain::comm
