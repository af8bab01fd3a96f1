// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/cluster.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::hw {
namespace {

// Enough of a catalog to name things.
Catalog small_catalog() {
  Catalog catalog;
  catalog.devices.push_back({Device{.name = "fast", .intra_node = "wire"}, {"f"}, {}});
  catalog.devices.push_back({Device{.name = "slow", .intra_node = "wire"}, {}, {}});
  catalog.links.push_back({Link{.name = "wire", .bytes_per_s = 5e9}, {}, false, {}});
  catalog.links.push_back({Link{.name = "net", .bytes_per_s = 1e9}, {}, true, {}});
  return catalog;
}

Cluster read(std::string_view text, std::vector<std::string>* assumptions = nullptr) {
  return parse_cluster(text, "file c.json", small_catalog(), assumptions);
}

std::string complaint(std::string_view text, ErrorKind kind = ErrorKind::BadInput) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ParseCluster, RepeatsAnEntryAsOftenAsItCounts) {
  const Cluster cluster = read(
      R"({"nodes": [{"count": 32, "device": "fast", "devices": 4, "intra_node": "wire"}],
          "network": "4xnet"})");
  ASSERT_EQ(cluster.nodes.size(), 32U);
  EXPECT_EQ(cluster.devices.size(), 1U);
  EXPECT_EQ(cluster.links.size(), 2U);
  EXPECT_EQ(worker_count(cluster), 128);
  const Node& last = cluster.nodes.back();
  EXPECT_EQ(cluster.links[static_cast<std::size_t>(last.intra_node)].name, "wire");
  EXPECT_EQ(cluster.links[static_cast<std::size_t>(last.network)].nics, 4);
}

TEST(ParseCluster, MixesDevicesAndNetworksInTheOrderGiven) {
  std::vector<std::string> assumptions;
  const Cluster cluster = read(
      R"({"nodes": [{"device": "f"}, {"count": 2, "device": "slow", "devices": 2,
                     "network": {"bytes_per_s": 2e9, "latency_s": 0, "efficiency": 1}},
                    {"device": {"name": "own", "fp32_flops_per_s": 1e12, "memory_bytes": 8e9,
                                "memory_bytes_per_s": 1e11}, "intra_node": "wire"}],
          "network": "net"})",
      &assumptions);
  ASSERT_EQ(cluster.nodes.size(), 4U);
  EXPECT_EQ(worker_count(cluster), 6);
  EXPECT_EQ(device_counts(cluster), (std::vector<int>{1, 4, 1}));
  EXPECT_EQ(cluster.devices[0].name, "fast");
  EXPECT_EQ(cluster.devices[1].name, "slow");
  EXPECT_EQ(cluster.devices[2].name, "own");
  EXPECT_EQ(cluster.links[static_cast<std::size_t>(cluster.nodes[1].network)].bytes_per_s, 2e9);
  EXPECT_EQ(cluster.links[static_cast<std::size_t>(cluster.nodes[3].network)].name, "net");
  EXPECT_EQ(assumptions[0], "device 'f' taken as fast");
}

TEST(ParseCluster, FillsRacks) {
  const Cluster cluster = read(R"({"nodes": [
      {"count": 3, "device": "fast", "rack": 4, "nodes_per_rack": 2},
      {"count": 2, "device": "slow", "rack": 9}, {"device": "slow"}], "network": "net"})");
  std::vector<int> racks;
  for (const Node& node : cluster.nodes) racks.push_back(node.rack);
  EXPECT_EQ(racks, (std::vector<int>{4, 4, 5, 9, 9, 0}));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fast", "rack": -1}]})"), "'rack'"));
}

TEST(ParseCluster, NeedsNoNetworkForOneNode) {
  EXPECT_EQ(worker_count(read(R"({"nodes": [{"device": "fast", "devices": 8}]})")), 8);
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fast", "count": 2}]})"),
                       "nodes[0]: 'network' is missing"));
}

TEST(ParseCluster, RefusesWhatIsNoCluster) {
  EXPECT_TRUE(contains(complaint("{}"), "nodes"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": []})"), "empty"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": {}})"), "list"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{}]})"), "device"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [3]})"), "nodes[0]"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": 3}]})"), "device"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fast", "count": 0}]})"), "'count'"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fast", "count": -1}]})"), "'count'"));
  EXPECT_TRUE(
      contains(complaint(R"({"nodes": [{"device": "fast", "devices": 2000}]})"), "'devices'"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fast", "gpus": 2}]})"), "gpus"));
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fast"}], "net": "net"})"), "net"));
}

TEST(ParseCluster, BoundsItsSize) {
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fast", "count": 60000},
                                               {"device": "slow", "count": 60000}],
                                     "network": "net"})"),
                       "at most 100000 nodes"));
  EXPECT_TRUE(contains(
      complaint(
          R"({"nodes": [{"device": "fast", "count": 2000, "devices": 1000}], "network": "net"})"),
      "1000000 devices"));
}

TEST(ParseCluster, ListsNearMatchesForUnknownNames) {
  EXPECT_TRUE(contains(complaint(R"({"nodes": [{"device": "fest"}]})", ErrorKind::NotFound),
                       "did you mean 'fast'"));
  EXPECT_TRUE(contains(
      complaint(R"({"nodes": [{"device": "fast"}], "network": "nett"})", ErrorKind::NotFound),
      "did you mean 'net'"));
}

TEST(ClusterShape, IsTwoNumbersAroundAnX) {
  for (const char* text : {"8x4", "8X4"}) {
    const auto shape = cluster_shape(text);
    ASSERT_TRUE(shape) << text;
    EXPECT_EQ(shape->nodes, 8);
    EXPECT_EQ(shape->devices, 4);
  }
  for (const char* text : {"", "8", "8x", "x4", "8x4x2", "8x4.json", "8*4", "a8x4"}) {
    EXPECT_FALSE(cluster_shape(text)) << text;
  }
}

}  // namespace
}  // namespace foretrain::hw
