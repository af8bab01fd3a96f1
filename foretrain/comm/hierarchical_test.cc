// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/hierarchical.h"

#include <gtest/gtest.h>

#include "foretrain/comm/detail/ring.h"

namespace foretrain::comm {
namespace {

const hw::Link kInside{.latency = Seconds{1e-6}, .bytes_per_s = 200e9};
const hw::Link kAcross{.latency = Seconds{5e-6}, .bytes_per_s = 50e9};

// 2 nodes of 4. Inside: 2 * 3 (1 us + 400 MB / 4 / 200 GB/s) = 6 (1 us + 0.5 ms) = 3.006 ms.
// Across: 2 (5 us + 400 MB / 2 / 50 GB/s) = 2 (5 us + 4 ms) = 8.01 ms. Together 11.016 ms.
TEST(HierarchicalAllReduce, MatchesHandCalculation) {
  EXPECT_NEAR(hierarchical_all_reduce(400e6, 2, 4, kInside, kAcross).count(), 11.016e-3, 1e-12);
}

TEST(HierarchicalAllReduce, OneDevicePerNodeIsTheRingOverNodes) {
  for (const int nodes : {1, 2, 5, 64}) {
    EXPECT_EQ(hierarchical_all_reduce(400e6, nodes, 1, kInside, kAcross),
              ring_all_reduce(400e6, nodes, kAcross));
  }
}

TEST(HierarchicalAllReduce, OneNodeIsTheRingInsideIt) {
  for (const int devices : {1, 2, 8}) {
    EXPECT_DOUBLE_EQ(hierarchical_all_reduce(400e6, 1, devices, kInside, kAcross).count(),
                     ring_all_reduce(400e6, devices, kInside).count());
  }
}

// With an inside without cost, only 2 (N-1)/N n bytes per node remain: less than the flat ring's
// 2 (p-1)/p n.
TEST(HierarchicalAllReduceLaws, FastInsideBeatsTheFlatRing) {
  const hw::Link free{.bytes_per_s = 1e18};
  EXPECT_LT(hierarchical_all_reduce(400e6, 2, 8, free, kAcross),
            ring_all_reduce(400e6, 16, kAcross));
}

}  // namespace
}  // namespace foretrain::comm
