// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "foretrain/comm/test_constants.h"

namespace foretrain::comm {
namespace {

const hw::Link kFast{.latency = Seconds{2e-6}, .bytes_per_s = 300e9, .efficiency = 0.5};
const hw::Link kSlow{.latency = Seconds{20e-6}, .bytes_per_s = 2e9};
const hw::Link kInfiniBand{
    .latency = Seconds{7e-6}, .bytes_per_s = 25e9, .nics = 4, .ramp = Seconds{80e-6}};
const hw::Link kTcp{.latency = Seconds{27e-6},
                    .bytes_per_s = 6.25e9,
                    .efficiency = 0.9,
                    .flow_cap_bytes_per_s = 1e9,
                    .rdma = false};

// Links: 0 fast inside, 1 slow inside, 2 InfiniBand, 3 TCP.
hw::Cluster cluster_of(std::vector<hw::Node> nodes) {
  return {.devices = {}, .links = {kFast, kSlow, kInfiniBand, kTcp}, .nodes = std::move(nodes)};
}
hw::Node node(int devices, int inside, int network) {
  return {.devices = devices, .intra_node = inside, .network = network};
}

// Links without names are taken as they are described.
Path plain_path(const hw::Cluster& cluster) { return path_over(cluster, test_constants()); }
Path plain_path(const hw::Cluster& cluster, const Group& group) {
  return path_over(cluster, group, test_constants());
}

TEST(Path, OneNodeSeesItsOwnLinkAlone) {
  const Path path = plain_path(cluster_of({node(8, 0, 3)}));
  EXPECT_EQ(path.ranks, 8);
  EXPECT_EQ(path.nodes, 1);
  EXPECT_EQ(path.most_devices, 8);
  EXPECT_TRUE(path.even);
  EXPECT_DOUBLE_EQ(path.flat.bytes_per_s, 150e9);
  EXPECT_DOUBLE_EQ(path.flat.latency.count(), 2e-6);
}

// Four NICs of 25 GB/s. Seven links of 4 * (2 - 1) = 4 inside at 2 us and 3 across at 7 us:
// 29/7 us. Two devices drive two NICs: 50 GB/s.
TEST(Path, AcrossNodesTheNicsDecide) {
  const hw::Cluster cluster =
      cluster_of({node(2, 0, 2), node(2, 0, 2), node(2, 0, 2), node(2, 0, 2)});
  const Path path = plain_path(cluster);
  EXPECT_EQ(path.nodes, 4);
  EXPECT_DOUBLE_EQ(path.inside.bytes_per_s, 150e9);
  EXPECT_DOUBLE_EQ(path.across.bytes_per_s, 50e9);
  EXPECT_DOUBLE_EQ(path.flat.bytes_per_s, 50e9);
  EXPECT_NEAR(path.flat.latency.count(), 29e-6 / 7, 1e-15);
  EXPECT_DOUBLE_EQ(path.flat.ramp.count(), 80e-6);
}

TEST(Path, ANodeDrivesNoMoreNicsThanItHasDevices) {
  for (const int devices : {1, 2, 4, 8}) {
    const Path path = plain_path(cluster_of({node(devices, 0, 2), node(devices, 0, 2)}));
    EXPECT_DOUBLE_EQ(path.across.bytes_per_s, 25e9 * std::min(devices, 4));
  }
}

// One flow of 1 GB/s, four devices on the fullest nodes: 1 / (1 + 0.077 * 3) GB/s. Fourteen ranks
// on four nodes: ten links inside at 2 us and three across at 27 us: 101/13 us.
TEST(Path, UnevenPlacementOverTcp) {
  const Path path =
      plain_path(cluster_of({node(3, 0, 3), node(3, 0, 3), node(4, 0, 3), node(4, 0, 3)}));
  EXPECT_EQ(path.ranks, 14);
  EXPECT_EQ(path.most_devices, 4);
  EXPECT_FALSE(path.even);
  EXPECT_FALSE(path.across.rdma);
  EXPECT_DOUBLE_EQ(path.flat.bytes_per_s, 1e9 / 1.231);
  EXPECT_NEAR(path.flat.latency.count(), 101e-6 / 13, 1e-15);
}

TEST(Path, TheSlowestOfMixedLinksDecides) {
  EXPECT_DOUBLE_EQ(plain_path(cluster_of({node(4, 0, 2), node(4, 1, 2)})).flat.bytes_per_s, 2e9);
  EXPECT_DOUBLE_EQ(plain_path(cluster_of({node(1, 0, 2), node(1, 0, 3)})).flat.bytes_per_s, 1e9);
  EXPECT_FALSE(plain_path(cluster_of({node(1, 0, 2), node(1, 0, 3)})).across.rdma);
}

TEST(Path, ANodeWithOneDeviceDoesNotUseItsInside) {
  EXPECT_DOUBLE_EQ(plain_path(cluster_of({node(1, 1, 2), node(1, 1, 2)})).flat.bytes_per_s, 25e9);
}

// Two nodes of four. Ranks 0..3 stay inside. Ranks 1 and 5 are one of four groups that share four
// NICs of 25 GB/s: 25 GB/s each.
TEST(Path, GroupsSideBySideShareTheNics) {
  const hw::Cluster cluster = cluster_of({node(4, 0, 2), node(4, 0, 2)});
  const Path inside = plain_path(cluster, {.first = 0, .ranks = 4, .stride = 1});
  EXPECT_EQ(inside.nodes, 1);
  EXPECT_DOUBLE_EQ(inside.flat.bytes_per_s, 150e9);
  const Path across = plain_path(cluster, {.first = 1, .ranks = 2, .stride = 4});
  EXPECT_EQ(across.nodes, 2);
  EXPECT_EQ(across.most_devices, 1);
  EXPECT_DOUBLE_EQ(across.flat.bytes_per_s, 25e9);
  EXPECT_DOUBLE_EQ(across.flat.latency.count(), 7e-6);
}

// Stride 2: ranks 0, 2 | 4, 6. Two groups share 100 GB/s.
TEST(Path, GroupsThatFillANodePartlyShareItsNics) {
  const hw::Cluster cluster = cluster_of({node(4, 0, 2), node(4, 0, 2)});
  const Path path = plain_path(cluster, {.first = 0, .ranks = 4, .stride = 2});
  EXPECT_EQ(path.nodes, 2);
  EXPECT_EQ(path.most_devices, 2);
  EXPECT_DOUBLE_EQ(path.across.bytes_per_s, 50e9);
}

// nvlink3 leads to three peers. 300 GB/s at half: two devices use one of three links, 50 GB/s,
// three 100, four and more all; a pair reaches twice its share of a ring.
TEST(Path, DirectLinksLeadToThoseOfTheGroupAlone) {
  hw::Cluster cluster = cluster_of({node(8, 0, 2)});
  cluster.links[0].name = "nvlink3";
  cluster.links[0].ramp = Seconds{1e-6};
  Constants constants = test_constants();
  constants.nvlink = {.efficiency = 0.5, .latency_s = 2e-6, .pair = 2};
  constants.links["nvlink3"] = {"nvlink", 3, ""};
  for (const auto& [ranks, rate] : {std::pair{2, 50e9}, {3, 100e9}, {4, 150e9}, {8, 150e9}}) {
    const Group group{.first = 0, .ranks = ranks, .stride = 1};
    const Path path = path_over(cluster, group, constants);
    EXPECT_DOUBLE_EQ(path.flat.bytes_per_s, rate);
    EXPECT_DOUBLE_EQ(path.pair.bytes_per_s, 100e9);
  }
}

// Four nodes of two over HDR with the constants below. Steps inside count threefold in the ring:
// (4 * 3 * 2 us + 3 * 9 us) / 7. The ramp is 40 us * 2^0.5. A pair uses one of four NICs of
// 25 GB/s, at 0.8 of it and 0.6 of the rate of a ring, without ramp.
TEST(Path, LinksOfTheCatalogHaveTheirConstants) {
  hw::Cluster cluster = cluster_of(std::vector<hw::Node>(4, node(2, 0, 2)));
  cluster.links[0].name = "nvswitch3";
  cluster.links[0].ramp = Seconds{1e-6};
  cluster.links[2].name = "4xhdr";
  Constants constants = test_constants();
  constants.nvlink = {.efficiency = 1, .latency_s = 2e-6, .ramp_s = 1e-6, .chain = 0.5, .ring = 3};
  constants.rdma = {
      .efficiency = 0.8, .latency_s = 9e-6, .ramp_s = 40e-6, .ramp_growth = 0.5, .pair = 0.6};
  constants.launch_s = 5e-6;
  constants.least_share = 0.1;
  constants.links["nvswitch3"] = {"nvlink", 0, ""};
  constants.links["hdr"] = {"rdma", 0, ""};
  const Path path = path_over(cluster, constants);
  EXPECT_NEAR(path.flat.latency.count(), 51e-6 / 7, 1e-15);
  EXPECT_DOUBLE_EQ(path.flat.ramp.count(), 40e-6 * std::sqrt(2));
  EXPECT_DOUBLE_EQ(path.flat.bytes_per_s, 40e9);
  EXPECT_EQ(path.flat.launch, Seconds{5e-6});
  EXPECT_EQ(path.flat.least_share, 0.1);
  EXPECT_EQ(path.inside.chain, 0.5);
  EXPECT_DOUBLE_EQ(path.pair.bytes_per_s, 25e9 * 0.8 * 0.6);
  EXPECT_EQ(path.pair.ramp, Seconds{0});
  const Group alone{.first = 0, .ranks = 2, .stride = 1};
  EXPECT_DOUBLE_EQ(path_over(cluster, alone, constants).flat.latency.count(), 2e-6);
}

TEST(PathLaws, TheGroupOfAllRanksIsTheCluster) {
  const hw::Cluster cluster = cluster_of({node(3, 0, 3), node(4, 1, 3), node(1, 0, 2)});
  const Path all = plain_path(cluster);
  const Path group = plain_path(cluster, {.first = 0, .ranks = 8, .stride = 1});
  EXPECT_EQ(all.flat.bytes_per_s, group.flat.bytes_per_s);
  EXPECT_EQ(all.flat.latency, group.flat.latency);
  EXPECT_EQ(all.nodes, group.nodes);
}

}  // namespace
}  // namespace foretrain::comm
