// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/all_gather.h"

#include <gtest/gtest.h>

namespace foretrain::comm {
namespace {

const hw::Link kLink{.latency = Seconds{1e-6}, .bytes_per_s = 100e9};

// 400 MB in the end, 100 MB from each: 3 (1 us + 1 ms) = 3.003 ms.
TEST(AllGather, MatchesHandCalculation) {
  EXPECT_NEAR(all_gather(400e6, 4, kLink).count(), 3.003e-3, 1e-12);
}

TEST(AllGather, OneRankIsFree) { EXPECT_EQ(all_gather(400e6, 1, kLink), Seconds{0}); }

}  // namespace
}  // namespace foretrain::comm
