// SPDX-License-Identifier: Apache-2.0
// The clusters are those of data/collectives/clusters/; every measurement here is invented.
#include "foretrain/measured/collective_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/hw/cluster.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/measured/measured_cluster.h"

namespace foretrain::measured {
namespace {

// A file of that name that is gone afterwards.
class CollectiveFile : public ::testing::Test {
 protected:
  ~CollectiveFile() override { std::filesystem::remove(path_); }

  std::vector<CollectiveCase> read(const std::string& text, const std::string& name = "some") {
    path_ = std::filesystem::temp_directory_path() / ("foretrain_collective_test_" + name + ".csv");
    std::ofstream(path_) << text;
    return read_collectives(path_);
  }

  std::string problem(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path path_;
};

constexpr const char* kEtt = "cluster,gpu,collective,elements,bytes,nodes,gpus_per_node,dur_us\n";

// An all-gather's bytes are each rank's input: 8 ranks hold 8 times as many in the end.
TEST_F(CollectiveFile, ReadsRowsOfEtt) {
  const auto cases =
      read(std::string(kEtt) + "Perlmutter,A100,allreduce,5,10.0,2.0,4.0,250\n" +
           "Perlmutter,A100,allgather_large,5,10.0,2.0,4.0,500\n" + "Vista,GH200,p2p,5,10,2,1,7\n");
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(label(cases[0]), "all-reduce, 2 x 4");
  EXPECT_EQ(cases[0].bytes, 10);
  EXPECT_DOUBLE_EQ(cases[0].measured, 250e-6);
  EXPECT_EQ(cases[1].bytes, 80);
  EXPECT_TRUE(cases[1].copied);
  EXPECT_EQ(label(cases[2]), "point-to-point, 2 x 1");
}

// Two cores over a shaped link; eight GPUs of one machine, each of which puts in 10 bytes.
TEST_F(CollectiveFile, ReadsWhatTheStoreExports) {
  const auto cases = read(
      "machine,source,kind,backend,link,ranks,nodes,bytes,time_s,spread_s,repeats\n"
      "lab-1,collect,all_reduce,gloo,1gbps,2,2,10,0.25,0,9\n"
      "lab-2@NVIDIA A100-SXM4-80GB,collect,all_gather,nccl,,8,1,10,0.5,0,9\n");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(label(cases[0]), "all-reduce, 2 x 1");
  EXPECT_EQ(cases[0].own->device, "cpu:cores=1");
  EXPECT_EQ(cases[0].own->network, "1gbps");
  EXPECT_EQ(cases[0].measured, 0.25);
  EXPECT_EQ(label(cases[1]), "all-gather, 1 x 8");
  EXPECT_EQ(cases[1].own->device, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(cases[1].bytes, 80);
}

TEST_F(CollectiveFile, TellsSuspectAndBrokenRowsApart) {
  const auto cases = read(std::string(kEtt) + "Perlmutter,A100,allgather_large,5,10,1,4,250\n" +
                          "Vista,GH200,allgather_large,5,10,4,1,250\n" +
                          "Vista,GH200,allgather_large,5,10,2,1,250\n");
  EXPECT_TRUE(cases[0].suspect);
  EXPECT_EQ(label(cases[0]), "all-gather, 1 x 4 (suspect)");
  EXPECT_FALSE(cases[1].broken.empty());
  EXPECT_TRUE(cases[2].broken.empty());
  EXPECT_FALSE(cases[2].suspect);
}

TEST_F(CollectiveFile, ReadsRowsOfNcclTests) {
  const auto cases = read(
      "source,gpu,ranks,nodes,bytes,oop_time_us\n"
      "x,A100,16,2,1024,34\nx,A100,32,4,1024,314\nx,A100,1,1,1024,4\n");
  EXPECT_EQ(label(cases[0]), "all-reduce, 2 x 8");
  EXPECT_TRUE(cases[1].suspect);
  EXPECT_EQ(cases[2].broken, "one rank has nothing to exchange");
}

// Against the largest size of the same column, which is no case itself.
TEST_F(CollectiveFile, ReadsTablesOfRatios) {
  const std::string table =
      "Size,1 Node(NVLinkx),2Node-16GPU(NIC )\n1000,0.2,0.3\n4000,0.4,\n2000,0.3,0.6\n";
  const auto cases = read(table, "ratio_nic");
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].cluster, "SimAI, NICs bind");
  EXPECT_DOUBLE_EQ(cases[0].measured, 0.5);
  EXPECT_EQ(cases[0].reference_bytes, 4000);
  EXPECT_EQ(label(cases[1]), "all-gather, 2 x 8");
  EXPECT_DOUBLE_EQ(cases[1].measured, 0.5);
  EXPECT_EQ(cases[1].reference_bytes, 2000);
  EXPECT_DOUBLE_EQ(cases[2].measured, 0.75);
  EXPECT_TRUE(read(table, "ratio_ata").empty());
}

TEST_F(CollectiveFile, NamesTheLineOfAMistake) {
  const std::string head = kEtt;
  EXPECT_NE(problem(head + "Vista,x,p2p,1,1,1,x,1\n").find("line 2"), std::string::npos);
  EXPECT_NE(problem(head + "Vista,x,p2p,1,0,2,1,1\n").find("bytes"), std::string::npos);
  EXPECT_NE(problem(head + "Vista,x,gather,1,1,2,1,1\n").find("'gather'"), std::string::npos);
  EXPECT_NE(problem(head + "Visa,x,p2p,1,1,2,1,1\n").find("Vista"), std::string::npos);
  EXPECT_NE(problem(head + "Vista,x,p2p,1,1,999999,1,1\n").find("100000"), std::string::npos);
  EXPECT_NE(problem("a,b\n1,2\n").find("not a known file"), std::string::npos);
}

TEST(MeasuredClusters, AreMadeOfHardwareInTheCatalog) {
  const hw::Catalog catalog = hw::load_catalog();
  for (const std::string& name : measured_cluster_names()) {
    SCOPED_TRACE(name);
    const hw::Cluster part = part_of(measured_cluster(name), 2, 4, catalog);
    EXPECT_EQ(hw::worker_count(part), 8);
    EXPECT_GT(hw::node_bytes_per_s(part.links[1]), 0);
  }
  EXPECT_THROW(measured_cluster("Perlmuter"), Error);
}

TEST(MeasuredClusters, NamesWhatIsWrong) {
  const auto problem = [](const std::string& more) -> std::string {
    try {
      parse_measured_cluster(
          R"({"name": "x", "device": "t4", "intra_node": "pcie3-x16", "network": "hdr")" + more +
              "}",
          "file");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(problem(""), "none");
  EXPECT_NE(problem(R"(, "nic_bytes_per_s": 0)").find("nic_bytes"), std::string::npos);
  EXPECT_NE(problem(R"(, "broken": [{"nodes": 0, "reason": "r"}])").find("nodes"),
            std::string::npos);
  EXPECT_NE(problem(R"(, "broken": {})").find("list"), std::string::npos);
  EXPECT_NE(problem(R"(, "suspect": [{}])").find("reason"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::measured
