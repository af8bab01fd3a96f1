// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/reduce_scatter.h"

#include <gtest/gtest.h>

namespace foretrain::comm {
namespace {

const hw::Link kLink{.latency = Seconds{1e-6}, .bytes_per_s = 100e9};

// 3 steps of 400 MB / 4 = 100 MB: 3 (1 us + 1 ms) = 3.003 ms.
TEST(ReduceScatter, MatchesHandCalculation) {
  EXPECT_NEAR(reduce_scatter(400e6, 4, kLink).count(), 3.003e-3, 1e-12);
}

TEST(ReduceScatter, OneRankIsFree) { EXPECT_EQ(reduce_scatter(400e6, 1, kLink), Seconds{0}); }

}  // namespace
}  // namespace foretrain::comm
