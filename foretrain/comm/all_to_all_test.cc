// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/all_to_all.h"

#include <gtest/gtest.h>

namespace foretrain::comm {
namespace {

const hw::Link kInside{.latency = Seconds{1e-6}, .bytes_per_s = 100e9};
const hw::Link kAcross{.latency = Seconds{5e-6}, .bytes_per_s = 10e9};

// Of 400 MB three parts of 100 MB go to the others: 3 us + 3 ms.
TEST(AllToAll, InsideANodeMatchesHandCalculation) {
  Path path{.ranks = 4, .nodes = 1, .most_devices = 4};
  path.inside = path.flat = kInside;
  EXPECT_NEAR(all_to_all(400e6, path).count(), 3.003e-3, 1e-12);
}

// Two nodes of two: each device sends 2 of 4 parts to the other node, both together 400 MB at
// 10 GB/s: 40 ms, longer than the 100 MB inside. Three steps of 5 us.
TEST(AllToAll, TheSlowerLinksDecide) {
  Path path{.ranks = 4, .nodes = 2, .most_devices = 2};
  path.inside = kInside;
  path.across = path.flat = kAcross;
  EXPECT_NEAR(all_to_all(400e6, path).count(), 40.015e-3, 1e-12);
}

TEST(AllToAll, OneRankIsFree) { EXPECT_EQ(all_to_all(400e6, Path{}), Seconds{0}); }

}  // namespace
}  // namespace foretrain::comm
