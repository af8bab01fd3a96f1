// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/network_factor.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/evaluate/collective_clock.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::fit {
namespace {

class NetworkFactors : public ::testing::Test {
 protected:
  // An all-reduce between two cores, or GPUs, over `network` that takes `share` of what is
  // predicted.
  measured::CollectiveCase timed(double bytes, double share,
                                 const std::string& device = "cpu:cores=1",
                                 const std::string& network = "1gbps") {
    measured::CollectiveCase one{.cluster = network, .collective = "all-reduce", .nodes = 2};
    measured::MeasuredCluster& own = one.own.emplace();
    own.device = device;
    own.network = network;
    one.bytes = bytes;
    one.measured =
        share * evaluate::CollectiveClock(library_.catalog, *library_.collectives).predict(one);
    return one;
  }

  const Library library_ = load_library();
};

// Half the time is twice the bandwidth; the small message and the odd large one do not decide.
TEST_F(NetworkFactors, AreTheMedianOfLargeMessages) {
  const NetworkFactor found = network_by_collectives(
      {timed(1e3, 9), timed(8e6, 0.5), timed(32e6, 0.5), timed(64e6, 3)}, library_);
  EXPECT_EQ(found.device, "cpu");
  EXPECT_EQ(found.rows, 3U);
  EXPECT_DOUBLE_EQ(found.network, 2);
}

TEST_F(NetworkFactors, AreOfOneDeviceWhateverItsLinks) {
  EXPECT_DOUBLE_EQ(
      network_by_collectives({timed(8e6, 2, "t4"), timed(8e6, 2, "t4", "10gbps")}, library_)
          .network,
      0.5);
  EXPECT_THROW(network_by_collectives({timed(8e6, 1), timed(8e6, 1, "t4")}, library_), Error);
}

TEST_F(NetworkFactors, NeedALargeMessage) {
  EXPECT_THROW(network_by_collectives({timed(1e3, 1)}, library_), Error);
  EXPECT_THROW(network_by_collectives({}, library_), Error);
}

}  // namespace
}  // namespace foretrain::fit
