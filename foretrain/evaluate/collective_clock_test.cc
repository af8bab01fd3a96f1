// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/collective_clock.h"

#include <gtest/gtest.h>

#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::evaluate {
namespace {

// Constants by hand: two nodes of Vista at half of 50 GB/s, 10 us per step, no ramp.
//   all-reduce of 100 MB    2 * 10 us + 100 MB / 25 GB/s = 4.02 ms
//   all-gather of 2 * 50 MB   10 us + 50 MB / 25 GB/s, and 50 MB of copies at 10 ps: 2.51 ms
//   point-to-point of 100 MB at 0.8 of it: 10 us + 5 ms
TEST(CollectiveClock, MatchesHandCalculation) {
  comm::Constants constants;
  constants.links = load_library().collectives->links;
  constants.rdma = {.efficiency = 0.5, .latency_s = 10e-6, .pair = 0.8};
  constants.copy_s_per_byte = 10e-12;
  const hw::Catalog catalog = hw::load_catalog();
  CollectiveClock clock(catalog, constants);
  measured::CollectiveCase one{
      .cluster = "Vista", .collective = "all-reduce", .nodes = 2, .bytes = 100e6};
  EXPECT_NEAR(clock.predict(one), 4.02e-3, 1e-12);
  one.collective = "all-gather";
  one.copied = true;
  EXPECT_NEAR(clock.predict(one), 2.51e-3, 1e-12);
  one.collective = "point-to-point";
  one.copied = false;
  EXPECT_NEAR(clock.predict(one), 5.01e-3, 1e-12);
  // The rate of 1 MB, 1 MB / (10 + 20) us with 0.5 MB passing, against that of 100 MB in 2.01 ms.
  one.collective = "all-gather";
  one.bytes = 1e6;
  one.reference_bytes = 100e6;
  EXPECT_NEAR(clock.predict(one), (1e6 / 30e-6) / (100e6 / 2.01e-3), 1e-9);
}

}  // namespace
}  // namespace foretrain::evaluate
