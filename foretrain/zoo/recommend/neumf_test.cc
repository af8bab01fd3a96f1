// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// MovieLens-1M: (6040 + 3706) (32 + 128) = 1,559,360; tower 256-128-64-32: 32,896 + 8,256 +
// 2,080 = 43,232; prediction 64 + 1 = 65. The same four sums for MovieLens-20M:
// (138493 + 26744) (64 + 128) = 31,725,504; tower 256-256-128-64: 65,792 + 32,896 + 8,256 =
// 106,944; prediction 128 + 1 = 129.
TEST(NeuMf, MatchesHandCalculation) {
  EXPECT_EQ(graph::parameter_count(build("neumf")), 1559360 + 43232 + 65);
  EXPECT_EQ(graph::parameter_count(build("neumf-ml20m")), 31725504 + 106944 + 129);
}

// The paper's own: 8 factors, a tower 64-32-16-8.
TEST(NeuMf, TowerHalvesDownToTheFactors) {
  EXPECT_EQ(graph::parameter_count(build("neumf:users=100,items=50,mf=8,layers=3")),
            150 * (8 + 32) + (64 * 32 + 32) + (32 * 16 + 16) + (16 * 8 + 8) + 17);
}

TEST(NeuMf, CountsItsProducts) {
  EXPECT_DOUBLE_EQ(gemm_flops(build("neumf"), 256),
                   2.0 * 256 * (256 * 128 + 128 * 64 + 64 * 32 + 64));
}

}  // namespace
}  // namespace foretrain::zoo
