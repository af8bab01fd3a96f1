// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/ring.h"

#include <gtest/gtest.h>

#include <limits>

#include "foretrain/comm/all_gather.h"
#include "foretrain/comm/reduce_scatter.h"

namespace foretrain::comm {
namespace {

const hw::Link kLink{.latency = Seconds{1e-6}, .bytes_per_s = 100e9};

// 6 steps of 400 MB / 4 = 100 MB: 6 (1 us + 1 ms) = 6.006 ms.
TEST(RingAllReduce, MatchesHandCalculation) {
  EXPECT_NEAR(ring_all_reduce(400e6, 4, kLink).count(), 6.006e-3, 1e-12);
}

// 2 (2-1)/2 * 100 MB = 100 MB in 1 ms; the ramp of 1 ms doubles it; 2 steps of 1 us.
TEST(RingAllReduce, RampCountsForTheWholeVolume) {
  const hw::Link link{.latency = Seconds{1e-6}, .bytes_per_s = 100e9, .ramp = Seconds{1e-3}};
  EXPECT_NEAR(ring_all_reduce(100e6, 2, link).count(), 2.002e-3, 1e-12);
}

TEST(RingAllReduce, OneRankIsFree) { EXPECT_EQ(ring_all_reduce(400e6, 1, kLink), Seconds{0}); }

// 2 * 7 steps of 1 us remain.
TEST(RingAllReduce, InfiniteBandwidthLeavesLatency) {
  const hw::Link link{.latency = Seconds{1e-6},
                      .bytes_per_s = std::numeric_limits<double>::infinity()};
  EXPECT_DOUBLE_EQ(ring_all_reduce(400e6, 8, link).count(), 14e-6);
}

TEST(RingAllReduceLaws, GrowsWithBytesAndRanksAndShrinksWithRate) {
  const hw::Link faster{.latency = Seconds{1e-6}, .bytes_per_s = 200e9};
  for (int ranks = 2; ranks < 100; ++ranks) {
    EXPECT_LT(ring_all_reduce(1e6, ranks, kLink), ring_all_reduce(2e6, ranks, kLink));
    EXPECT_LT(ring_all_reduce(1e6, ranks, kLink), ring_all_reduce(1e6, ranks + 1, kLink));
    EXPECT_GT(ring_all_reduce(1e6, ranks, kLink), ring_all_reduce(1e6, ranks, faster));
  }
}

TEST(RingAllReduceLaws, IsReduceScatterThenAllGather) {
  for (const int ranks : {1, 2, 3, 8, 1000}) {
    const Seconds halves = reduce_scatter(1e9, ranks, kLink) + all_gather(1e9, ranks, kLink);
    EXPECT_DOUBLE_EQ(ring_all_reduce(1e9, ranks, kLink).count(), halves.count());
  }
}

}  // namespace
}  // namespace foretrain::comm
