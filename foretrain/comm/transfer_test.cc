// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/transfer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace foretrain::comm {
namespace {

// 400 MB at 100 GB/s: 4 ms.
TEST(Transfer, WithoutRampIsBytesOverRate) {
  EXPECT_DOUBLE_EQ(transfer_time(400e6, hw::Link{.bytes_per_s = 100e9}).count(), 4e-3);
}

// A ramp of 1 ms at 100 GB/s is 100 MB. 100 MB: 1 ms (1 + 1) = 2 ms. 400 MB: 4 ms (1 + 4^-0.66),
// and with an exponent of 1 the ramp is added: 5 ms.
TEST(Transfer, RampSlowsSmallTransfers) {
  Link link(hw::Link{.bytes_per_s = 100e9, .ramp = Seconds{1e-3}});
  link.ramp_exponent = 0.66;
  EXPECT_DOUBLE_EQ(transfer_time(100e6, link).count(), 2e-3);
  EXPECT_DOUBLE_EQ(transfer_time(400e6, link).count(), 4e-3 * (1 + std::pow(4, -0.66)));
  link.ramp_exponent = 1;
  EXPECT_DOUBLE_EQ(transfer_time(400e6, link).count(), 5e-3);
}

// As above with at least a quarter of the rate: 1 MB would take 10 us (1 + 100^0.66), takes 40 us.
TEST(Transfer, TheLeastShareBoundsTheRamp) {
  Link link(hw::Link{.bytes_per_s = 100e9, .ramp = Seconds{1e-3}});
  link.least_share = 0.25;
  link.ramp_exponent = 0.66;
  EXPECT_DOUBLE_EQ(transfer_time(1e6, link).count(), 40e-6);
  EXPECT_DOUBLE_EQ(transfer_time(100e6, link).count(), 2e-3);
}

// 5 us, 3 steps of 2 us, 400 MB at 100 GB/s.
TEST(Transfer, StepsAddLaunchAndLatencies) {
  Link link(hw::Link{.latency = Seconds{2e-6}, .bytes_per_s = 100e9});
  link.launch = Seconds{5e-6};
  EXPECT_DOUBLE_EQ(steps_time(3, 400e6, link).count(), 11e-6 + 4e-3);
  EXPECT_EQ(steps_time(0, 400e6, link), Seconds{0});
}

TEST(Transfer, NothingToSendOrInfiniteRateIsFree) {
  const hw::Link link{.bytes_per_s = 100e9, .ramp = Seconds{1e-3}};
  EXPECT_EQ(transfer_time(0, link), Seconds{0});
  const hw::Link infinite{.bytes_per_s = std::numeric_limits<double>::infinity(),
                          .ramp = Seconds{1e-3}};
  EXPECT_EQ(transfer_time(400e6, infinite), Seconds{0});
}

TEST(TransferLaws, GrowsWithBytesAndRampAndShrinksWithRate) {
  for (const double ramp : {0.0, 1e-6, 1e-3, 1.0}) {
    for (double bytes = 1; bytes < 1e12; bytes *= 3) {
      const auto made = [](double rate, double seconds) {
        Link link(hw::Link{.bytes_per_s = rate, .ramp = Seconds{seconds}});
        link.ramp_exponent = 0.66;
        return link;
      };
      const Link link = made(10e9, ramp);
      const Link faster = made(11e9, ramp);
      const Link slower_start = made(10e9, ramp + 1e-6);
      EXPECT_LT(transfer_time(bytes, link), transfer_time(1.1 * bytes, link));
      EXPECT_GT(transfer_time(bytes, link), transfer_time(bytes, faster));
      EXPECT_LT(transfer_time(bytes, link), transfer_time(bytes, slower_start));
    }
  }
}

}  // namespace
}  // namespace foretrain::comm
