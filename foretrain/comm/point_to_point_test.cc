// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/point_to_point.h"

#include <gtest/gtest.h>

namespace foretrain::comm {
namespace {

// 1 us + 100 MB at 100 GB/s = 1.001 ms; a ramp of 1 ms doubles the second term.
TEST(PointToPoint, MatchesHandCalculation) {
  hw::Link link{.latency = Seconds{1e-6}, .bytes_per_s = 100e9};
  EXPECT_NEAR(point_to_point(100e6, link).count(), 1.001e-3, 1e-12);
  link.ramp = Seconds{1e-3};
  EXPECT_NEAR(point_to_point(100e6, link).count(), 2.001e-3, 1e-12);
}

TEST(PointToPoint, EmptyMessageTakesTheLatency) {
  EXPECT_EQ(point_to_point(0, hw::Link{.latency = Seconds{3e-6}, .bytes_per_s = 1e9}),
            Seconds{3e-6});
}

}  // namespace
}  // namespace foretrain::comm
