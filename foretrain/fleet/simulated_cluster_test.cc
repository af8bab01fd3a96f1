// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulated_cluster.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/fleet/detail/published_cluster.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::fleet {
namespace {

const hw::Catalog& catalog() {
  static const hw::Catalog loaded = hw::load_catalog();
  return loaded;
}

TEST(SimulatedCluster, AShapeIsOfOneKindOfNode) {
  const SimulatedCluster cluster = read_simulated_cluster("8x4", catalog());
  EXPECT_EQ(cluster.cluster.nodes.size(), 8U);
  EXPECT_EQ(hw::worker_count(cluster.cluster), 32);
  EXPECT_EQ(cluster.entry_of, std::vector<int>(8, 0));
  EXPECT_FALSE(cluster.assumptions.empty());
  EXPECT_EQ(read_simulated_cluster("8X4", catalog()).cluster.nodes.size(), 8U);
  EXPECT_THROW(read_simulated_cluster("8x4x2", catalog()), Error);  // no such file
  EXPECT_THROW(read_simulated_cluster("16", catalog()), Error);     // a shape is two numbers
  for (const char* many : {"100000000000x4", "4x1000000", "0x4"}) {
    try {
      read_simulated_cluster(many, catalog());
      FAIL() << many;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput) << error.what();  // not that there is no file
    }
  }
  EXPECT_THROW(read_simulated_cluster("0x4", catalog()), Error);
}

// The second entry's own network goes before that of all.
TEST(SimulatedCluster, AnAllocationIsAClusterOfItsOwn) {
  const SimulatedCluster cluster = read_simulated_cluster(
      R"({"nodes": [{"count": 2, "devices": 4, "device": "t4"},
                    {"devices": 2, "device": "t4", "network": "edr"}], "network": "10gbe"})",
      catalog());
  EXPECT_EQ(cluster.entry_of, (std::vector<int>{0, 0, 1}));
  const std::string part = cluster_json(cluster, {0, {{1, 3}, {2, 1}}});
  EXPECT_EQ(parse_json(part)["nodes"],
            Json({{{"device", "t4"}, {"devices", 3}, {"network", "10gbe"}},
                  {{"device", "t4"}, {"devices", 1}, {"network", "edr"}}}));
  EXPECT_EQ(hw::worker_count(read_simulated_cluster(part, catalog()).cluster), 4);
}

// 2 switches with 3 nodes each.
TEST(PublishedCluster, ReadsTiresiasAndAlibaba) {
  std::vector<std::string> assumptions;
  const Json tiresias = parse_json(
      published_cluster("num_switch,num_node_p_switch,num_gpu_p_node\n2,3,4\n", "x", assumptions));
  EXPECT_EQ(tiresias["nodes"][0]["count"], 6);
  EXPECT_EQ(tiresias["nodes"][0]["devices"], 4);
  EXPECT_EQ(tiresias["nodes"][0]["nodes_per_rack"], 3);
  EXPECT_EQ(assumptions.size(), 2U);
  const Json alibaba =
      parse_json(published_cluster("sn,gpu,model\nx,2,P100\ny,4,T4\n", "x", assumptions));
  EXPECT_EQ(alibaba["nodes"][1], Json({{"device", "t4"}, {"devices", 4}}));
}

TEST(PublishedCluster, NamesTheLineThatIsWrong) {
  std::vector<std::string> assumptions;
  for (const char* text : {"sn,gpu,model\nx,1,H100\n", "sn,gpu,model\nx,1\n"}) {
    try {
      published_cluster(text, "x.csv", assumptions);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("x.csv, line 2: ")) << error.what();
    }
  }
  EXPECT_THROW(published_cluster("a,b\n1,2\n", "x.csv", assumptions), Error);
}

}  // namespace
}  // namespace foretrain::fleet
