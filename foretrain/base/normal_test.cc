// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/normal.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

// Exact values of the normal order statistics: 0.5642 of two, 1.4236 of eight, 2.5076 of a
// hundred (Teichroew, 1956).
TEST(ExpectedLargest, IsNearTheExactOrderStatistics) {
  EXPECT_NEAR(expected_largest(1), 0, 1e-12);
  EXPECT_NEAR(expected_largest(2), 0.5642, 0.05 * 0.5642);
  EXPECT_NEAR(expected_largest(8), 1.4236, 0.01 * 1.4236);
  EXPECT_NEAR(expected_largest(100), 2.5076, 0.01 * 2.5076);
}

TEST(ExpectedLargest, GrowsWithTheCount) {
  for (double count = 1; count < 1e6; count *= 3) {
    EXPECT_LT(expected_largest(count), expected_largest(3 * count));
  }
}

// From the usual table: 97.5 % lie below 1.95996, half below the mean.
TEST(NormalQuantile, IsTheInverseOfTheShare) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  for (const double share : {1e-6, 0.1, 0.4, 0.999}) {
    EXPECT_NEAR(normal_share(normal_quantile(share)), share, 1e-12);
  }
}

}  // namespace
}  // namespace foretrain
