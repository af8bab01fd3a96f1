// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/placement.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/sched/test_runs.h"

namespace foretrain::sched {
namespace {

using Shares = std::vector<Share>;

// Nodes 0 to 3 with four devices each, of which 1, 4, 2 and 4 are free.
class Placements : public testing::Test {
 protected:
  Placements() : cluster(test_cluster(4, 4)), nodes(cluster) {
    cluster.nodes[2].rack = cluster.nodes[3].rack = 1;
    nodes.take({0, {{0, 3}, {2, 2}}});
  }
  Shares place(Place how, int devices) { return how(nodes, 0, devices).value().shares; }

  hw::Cluster cluster;
  Nodes nodes;
};

TEST_F(Placements, AnywhereTakesTheFirst) {
  EXPECT_EQ(place(place_anywhere, 6), (Shares{{0, 1}, {1, 4}, {2, 1}}));
}

TEST_F(Placements, BestFitLeavesLeast) {
  EXPECT_EQ(place(place_best_fit, 1), (Shares{{0, 1}}));
  EXPECT_EQ(place(place_best_fit, 2), (Shares{{2, 2}}));
  EXPECT_EQ(place(place_best_fit, 3), (Shares{{1, 3}}));
  EXPECT_EQ(place(place_best_fit, 6), (Shares{{1, 4}, {2, 2}}));
  EXPECT_EQ(place(place_best_fit, 7), (Shares{{1, 4}, {3, 3}}));
  EXPECT_EQ(place(place_best_fit, 11), (Shares{{1, 4}, {3, 4}, {2, 2}, {0, 1}}));
}

// Nine devices fit three nodes of four, but only with four nodes now.
TEST_F(Placements, ConsolidatedWaitsForFewNodes) {
  EXPECT_EQ(place(place_consolidated, 8), (Shares{{1, 4}, {3, 4}}));
  EXPECT_EQ(place(place_consolidated, 10), (Shares{{1, 4}, {3, 4}, {2, 2}}));
  EXPECT_FALSE(place_consolidated(nodes, 0, 11));
  nodes.take({0, {{1, 2}, {3, 2}}});  // 1, 2, 2, 2 free
  EXPECT_FALSE(place_consolidated(nodes, 0, 3));
}

TEST_F(Placements, SpreadUsesManyNodes) {
  EXPECT_EQ(place(place_spread, 2), (Shares{{1, 1}, {3, 1}}));
  EXPECT_EQ(place(place_spread, 7), (Shares{{1, 2}, {3, 2}, {2, 2}, {0, 1}}));
}

// Rack 0 has 5 free devices, rack 1 has 6.
TEST_F(Placements, TopologyStaysInARack) {
  EXPECT_EQ(place(place_by_topology, 4), (Shares{{1, 4}}));
  EXPECT_EQ(place(place_by_topology, 5), (Shares{{1, 4}, {0, 1}}));
  EXPECT_EQ(place(place_by_topology, 6), (Shares{{3, 4}, {2, 2}}));
  EXPECT_EQ(place(place_by_topology, 7), (Shares{{3, 4}, {2, 2}, {1, 1}}));
}

TEST_F(Placements, ANodeThatIsDownIsNotUsed) {
  nodes.bring_down(1);
  EXPECT_EQ(nodes.devices(0), 12);
  EXPECT_EQ(nodes.free(0), 7);
  EXPECT_EQ(place(place_anywhere, 6), (Shares{{0, 1}, {2, 2}, {3, 3}}));
  nodes.bring_up(1);
  EXPECT_EQ(nodes.free(0), 11);
}

TEST(Placement, UnknownNamesListNearOnes) {
  EXPECT_THROW(find_placement("best_fitt"), Error);
  EXPECT_EQ(find_placement("spread").place, place_spread);
}

// As many jobs as fit run at once only where nothing has to stay together: two of three devices
// on two nodes of four leave 1 + 1.
TEST(Placement, ConsolidatedJobsWaitWhereOthersWouldSpread) {
  TestSetup setup;
  setup.cluster = test_cluster(2, 4);
  const std::vector<Job> jobs = {test_job("a", 0, 10, 3), test_job("b", 0, 10, 3),
                                 test_job("c", 0, 5, 2)};
  EXPECT_EQ(run_jobs(setup, jobs).jobs.at("c").start, 0);
  setup.options.place = place_consolidated;
  EXPECT_EQ(run_jobs(setup, jobs).jobs.at("c").start, 10);
}

}  // namespace
}  // namespace foretrain::sched
