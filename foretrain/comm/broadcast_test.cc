// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/broadcast.h"

#include <gtest/gtest.h>

#include "foretrain/comm/point_to_point.h"

namespace foretrain::comm {
namespace {

const hw::Link kLink{.latency = Seconds{1e-6}, .bytes_per_s = 100e9};

// 3 hops of 1 us, 400 MB at 100 GB/s: 4.003 ms.
TEST(Broadcast, MatchesHandCalculation) {
  EXPECT_NEAR(broadcast(400e6, 4, kLink).count(), 4.003e-3, 1e-12);
}

TEST(Broadcast, OneRankIsFree) { EXPECT_EQ(broadcast(400e6, 1, kLink), Seconds{0}); }

TEST(Broadcast, ToOneOtherIsPointToPoint) {
  EXPECT_EQ(broadcast(400e6, 2, kLink), point_to_point(400e6, kLink));
}

}  // namespace
}  // namespace foretrain::comm
