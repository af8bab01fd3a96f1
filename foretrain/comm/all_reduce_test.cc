// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/all_reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "foretrain/comm/detail/ring.h"
#include "foretrain/comm/test_constants.h"

namespace foretrain::comm {
namespace {

hw::Cluster cluster_of(int nodes, int devices, const hw::Link& inside, const hw::Link& across) {
  hw::Cluster cluster{.devices = {}, .links = {inside, across}, .nodes = {}};
  for (int i = 0; i < nodes; ++i) {
    cluster.nodes.push_back({.devices = devices, .intra_node = 0, .network = 1});
  }
  return cluster;
}

// Links without names are taken as they are described.
AllReduce all_reduce(double bytes, const hw::Cluster& cluster) {
  return comm::all_reduce(bytes, path_over(cluster, test_constants()));
}

const hw::Link kInside{.latency = Seconds{1.6e-6}, .bytes_per_s = 250e9};
const hw::Link kRdma{.latency = Seconds{7e-6}, .bytes_per_s = 12.5e9, .nics = 8};
const hw::Link kTcp{.latency = Seconds{27e-6}, .bytes_per_s = 1e9, .rdma = false};

TEST(AllReduce, OneRankIsFree) {
  const AllReduce result = all_reduce(1e9, cluster_of(1, 1, kInside, kRdma));
  EXPECT_EQ(result.time, Seconds{0});
  EXPECT_EQ(result.algorithm, "none");
}

// 14 (1.6 us + 100 MB / 8 / 250 GB/s) = 14 * 51.6 us.
TEST(AllReduce, OneNodeUsesARing) {
  const AllReduce result = all_reduce(100e6, cluster_of(1, 8, kInside, kRdma));
  EXPECT_EQ(result.algorithm, "ring");
  EXPECT_NEAR(result.time.count(), 14 * 51.6e-6, 1e-12);
}

// 1 kB on 16 nodes of 8: chain 2 * 7 * 1.6 = 22.4 us, tree 2 * 4 * 7 = 56 us, 2 kB at 100 GB/s =
// 0.02 us; the ring would need 2 (112 * 1.6 + 15 * 7) = 568 us.
TEST(AllReduce, FewBytesOnManyNodesUseATree) {
  const AllReduce result = all_reduce(1e3, cluster_of(16, 8, kInside, kRdma));
  EXPECT_EQ(result.algorithm, "tree");
  EXPECT_NEAR(result.time.count(), 78.42e-6, 1e-11);
}

// As above with steps of the chain at a quarter of the latency, and a launch of 5 us.
TEST(AllReduce, ATreeHasItsOwnStepsInsideNodes) {
  Path path = path_over(cluster_of(16, 8, kInside, kRdma), test_constants());
  path.inside.chain = 0.25;
  path.flat.launch = Seconds{5e-6};
  const AllReduce result = comm::all_reduce(1e3, path);
  EXPECT_EQ(result.algorithm, "tree");
  EXPECT_NEAR(result.time.count(), (5 + 5.6 + 56 + 0.02) * 1e-6, 1e-11);
}

// 1 GB on 2 nodes of 8 with one NIC of 12.5 GB/s: three stages move 1 GB across and 2 * 7/8 GB
// inside, 80 + 7 ms; the ring 15/8 GB across, 150 ms.
TEST(AllReduce, SlowNicsOnFewNodesUseThreeStages) {
  const hw::Link one_nic{.latency = Seconds{7e-6}, .bytes_per_s = 12.5e9};
  const AllReduce result = all_reduce(1e9, cluster_of(2, 8, kInside, one_nic));
  EXPECT_EQ(result.algorithm, "hierarchical");
  EXPECT_NEAR(result.time.count(), 87e-3, 0.1e-3);
}

TEST(AllReduce, ThreeStagesNeedRdmaAndEqualNodes) {
  const hw::Link slow_tcp{.latency = Seconds{7e-6}, .bytes_per_s = 1e9, .rdma = false};
  EXPECT_EQ(all_reduce(1e9, cluster_of(2, 8, kInside, slow_tcp)).algorithm, "ring");
  const hw::Link one_nic{.latency = Seconds{7e-6}, .bytes_per_s = 12.5e9};
  hw::Cluster uneven = cluster_of(2, 8, kInside, one_nic);
  uneven.nodes[1].devices = 7;
  EXPECT_EQ(all_reduce(1e9, uneven).algorithm, "ring");
}

// Ranks on 3, 3, 4 and 4 devices over TCP: 2 * 13/14 * 14 MB = 26 MB at 1/1.231 GB/s, and
// 2 (10 * 1.6 + 3 * 27) = 194 us.
TEST(AllReduce, UnevenPlacementMatchesHandCalculation) {
  hw::Cluster cluster = cluster_of(4, 4, kInside, kTcp);
  cluster.nodes[0].devices = 3;
  cluster.nodes[1].devices = 3;
  const AllReduce result = all_reduce(14e6, cluster);
  EXPECT_EQ(result.algorithm, "ring");
  EXPECT_NEAR(result.time.count(), 26e-3 * 1.231 + 194e-6, 1e-9);
}

// Measured with NCCL on eight A100 (Echo): 134 MB in 1.119 ms, 1 GiB in 8.14 ms; on 16 such nodes
// 1 GiB in 16.6 ms. A constant 4.2 us of launching does not matter at these sizes.
TEST(AllReduce, IsNearMeasurementsOnA100Nodes) {
  const hw::Link nvswitch{.latency = Seconds{1.6e-6},
                          .bytes_per_s = 300e9,
                          .efficiency = 0.827,
                          .ramp = Seconds{78e-6}};
  const hw::Link network{
      .latency = Seconds{7e-6}, .bytes_per_s = 132e9 / 8, .nics = 8, .ramp = Seconds{66e-6}};
  const auto time = [&](double bytes, int nodes) {
    return all_reduce(bytes, cluster_of(nodes, 8, nvswitch, network)).time.count();
  };
  EXPECT_NEAR(time(134'217'728, 1), 1.119e-3, 0.05 * 1.119e-3);
  EXPECT_NEAR(time(1'073'741'824, 1), 8.14e-3, 0.05 * 8.14e-3);
  EXPECT_NEAR(time(1'073'741'824, 16), 16.6e-3, 0.05 * 16.6e-3);
}

hw::Link random_link(std::mt19937& random) {
  const auto draw = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  return {.latency = Seconds{draw(1e-6, 1e-4)},
          .bytes_per_s = draw(1e8, 1e12),
          .nics = 1 + static_cast<int>(random() % 8),
          .rdma = random() % 2 == 0,
          .ramp = Seconds{random() % 2 == 0 ? 0 : draw(1e-6, 1e-3)}};
}

TEST(AllReduceLaws, MoreBytesAreNeverFasterAndMoreBandwidthNeverSlower) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    hw::Cluster cluster =
        cluster_of(1 + static_cast<int>(random() % 9), 1 + static_cast<int>(random() % 9),
                   random_link(random), random_link(random));
    const double bytes = std::pow(10.0, 3 + static_cast<double>(random() % 7));
    const Seconds time = all_reduce(bytes, cluster).time;
    EXPECT_LE(time, all_reduce(1.5 * bytes, cluster).time);
    for (hw::Link& link : cluster.links) {
      const double rate = link.bytes_per_s;
      link.bytes_per_s = 1.5 * rate;
      EXPECT_LE(all_reduce(bytes, cluster).time, time * (1 + 1e-12));
      link.bytes_per_s = rate;
    }
  }
}

TEST(AllReduceLaws, IsNeverWorseThanARing) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const hw::Cluster cluster =
        cluster_of(1 + static_cast<int>(random() % 9), 1 + static_cast<int>(random() % 9),
                   random_link(random), random_link(random));
    const Path path = path_over(cluster, test_constants());
    EXPECT_LE(comm::all_reduce(1e7, path).time, ring_all_reduce(1e7, path.ranks, path.flat));
  }
}

}  // namespace
}  // namespace foretrain::comm
