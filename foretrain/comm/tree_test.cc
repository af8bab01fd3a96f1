// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/tree.h"

#include <gtest/gtest.h>

#include <limits>

#include "foretrain/comm/detail/ring.h"

namespace foretrain::comm {
namespace {

const hw::Link kLink{.latency = Seconds{1e-6}, .bytes_per_s = 100e9};

// 16 ranks: 2 * 4 steps of 1 us; 2 * 400 MB at 100 GB/s: 8 ms.
TEST(TreeAllReduce, MatchesHandCalculation) {
  EXPECT_NEAR(tree_all_reduce(400e6, 16, kLink).count(), 8.008e-3, 1e-12);
}

// 5 to 8 ranks need three levels, 9 need four.
TEST(TreeAllReduce, DepthIsRoundedUp) {
  const hw::Link link{.latency = Seconds{1},
                      .bytes_per_s = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(tree_all_reduce(1, 2, link), Seconds{2});
  EXPECT_EQ(tree_all_reduce(1, 3, link), Seconds{4});
  EXPECT_EQ(tree_all_reduce(1, 4, link), Seconds{4});
  EXPECT_EQ(tree_all_reduce(1, 5, link), Seconds{6});
  EXPECT_EQ(tree_all_reduce(1, 8, link), Seconds{6});
  EXPECT_EQ(tree_all_reduce(1, 9, link), Seconds{8});
}

TEST(TreeAllReduce, OneRankIsFree) { EXPECT_EQ(tree_all_reduce(400e6, 1, kLink), Seconds{0}); }

TEST(TreeAllReduceLaws, BeatsTheRingForFewBytesOnly) {
  EXPECT_LT(tree_all_reduce(1e3, 64, kLink), ring_all_reduce(1e3, 64, kLink));
  EXPECT_GT(tree_all_reduce(100e9, 64, kLink), ring_all_reduce(100e9, 64, kLink));
}

TEST(TreeAllReduceLaws, GrowsWithBytesAndRanks) {
  for (int ranks = 2; ranks < 100; ++ranks) {
    EXPECT_LT(tree_all_reduce(1e6, ranks, kLink), tree_all_reduce(2e6, ranks, kLink));
    EXPECT_LE(tree_all_reduce(1e6, ranks, kLink), tree_all_reduce(1e6, ranks + 1, kLink));
  }
}

}  // namespace
}  // namespace foretrain::comm
