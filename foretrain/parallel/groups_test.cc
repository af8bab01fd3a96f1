// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/groups.h"

#include <gtest/gtest.h>

#include <numeric>

namespace foretrain::parallel {
namespace {

using graph::Among;

class Groups : public testing::Test {
 protected:
  // Links of 100 GB/s inside nodes and of 10 GB/s between them.
  void prepare(const std::vector<int>& placement, const Strategy& strategy) {
    resolved_.collectives = library_.collectives;
    resolved_.strategy = strategy;
    resolved_.cluster.links.resize(2);
    resolved_.cluster.links[0].name = "inside";
    resolved_.cluster.links[0].bytes_per_s = 100e9;
    resolved_.cluster.links[1].name = "across";
    resolved_.cluster.links[1].bytes_per_s = 10e9;
    resolved_.cluster.nodes.clear();
    for (const int devices : placement) resolved_.cluster.nodes.push_back({0, devices, 0, 1, 0});
    resolved_.workers = std::accumulate(placement.begin(), placement.end(), 0);
    resolved_.data_parallel =
        resolved_.workers / (strategy.tensor * strategy.context * strategy.pipeline);
  }

  void expect(Among among, int ranks, int stride, int nodes, int ranks_per_node, int count) const {
    const RankGroups groups = rank_groups(among, resolved_);
    EXPECT_EQ(groups.slowest.ranks, ranks);
    EXPECT_EQ(groups.slowest.stride, stride);
    EXPECT_EQ(groups.path.nodes, nodes);
    EXPECT_EQ(groups.path.most_devices, ranks_per_node);
    EXPECT_EQ(groups.count, count);
  }

  Library library_ = load_library();
  Resolved resolved_;
};

Strategy strategy_of(int tensor, int context, int pipeline, int expert = 1) {
  Strategy strategy;
  strategy.tensor = tensor;
  strategy.context = context;
  strategy.pipeline = pipeline;
  strategy.expert = expert;
  return strategy;
}

// 64 ranks on 8 nodes: tensor 4 (ranks 0 to 3), context 2 (0, 4), so that data-parallel ranks are 8
// apart, one per node: 4 of them (0, 8, 16, 24); stages are 32 apart (0, 32). Gradients are summed
// by 0, 4, 8, ..., 28, two on each of 4 nodes. 4 ranks of experts: 0, 4, 8, 12 on 2 nodes; the same
// experts are on 0 and 16.
TEST_F(Groups, RanksAreNumberedTensorContextDataPipeline) {
  prepare(std::vector<int>(8, 8), strategy_of(4, 2, 2, 4));
  EXPECT_EQ(degrees_of(resolved_).data, 4);
  EXPECT_EQ(gradient_ranks(resolved_), 8);
  expect(Among::Tensor, 4, 1, 1, 4, 16);
  expect(Among::Context, 2, 4, 1, 2, 32);
  expect(Among::Data, 4, 8, 4, 1, 16);
  expect(Among::All, 8, 4, 4, 2, 8);
  expect(Among::Pipeline, 2, 32, 2, 1, 32);
  expect(Among::Expert, 4, 4, 2, 2, 16);
  expect(Among::ExpertReplicas, 2, 16, 2, 1, 32);
  EXPECT_EQ(rank_groups(Among::Data, resolved_).groups_on_node, 8);
  EXPECT_EQ(rank_groups(Among::All, resolved_).groups_on_node, 4);
}

// Of nodes with 3, 3 and 2 devices ranks 2 and 3 are neighbours on different nodes; they need the
// network, which others of the kind do not.
TEST_F(Groups, TheSlowestGroupDecides) {
  prepare({3, 3, 2}, strategy_of(2, 1, 1));
  const RankGroups groups = rank_groups(Among::Tensor, resolved_);
  EXPECT_EQ(groups.slowest.first, 2);
  EXPECT_EQ(groups.path.nodes, 2);
  EXPECT_LT(groups.path.flat.bytes_per_s, 11e9);
  prepare({2, 4, 2}, strategy_of(2, 1, 1));
  EXPECT_EQ(rank_groups(Among::Tensor, resolved_).path.nodes, 1);
}

// With sharding inside groups of two: ranks 0 and 2 share, 0 and 4 hold the same shard.
TEST_F(Groups, ShardsAreSharedByNeighboursOfDataParallelism) {
  Strategy strategy = strategy_of(2, 1, 1);
  strategy.kind = Parallel::Fsdp;
  strategy.shard_group = 2;
  prepare({4, 4}, strategy);
  expect(Among::ShardGroup, 2, 2, 1, 2, 4);
  expect(Among::Replicas, 2, 4, 2, 1, 4);
}

TEST_F(Groups, WithoutModelParallelismAllRanksSumGradients) {
  prepare({4, 4}, strategy_of(1, 1, 1));
  expect(Among::All, 8, 1, 2, 4, 1);
  expect(Among::Tensor, 1, 1, 1, 1, 8);
}

TEST_F(Groups, SixteenThousandRanksAreFewGroups) {
  prepare(std::vector<int>(2048, 8), strategy_of(8, 1, 16));
  expect(Among::Tensor, 8, 1, 1, 8, 2048);
  expect(Among::Data, 128, 8, 128, 1, 128);
  expect(Among::Pipeline, 16, 1024, 16, 1, 1024);
}

TEST_F(Groups, TheDumpNamesLinksThatAreCrossed) {
  prepare({8, 8}, strategy_of(8, 1, 1));
  const std::string text = dump_groups(resolved_);
  EXPECT_NE(text.find(R"("group":"tensor","groups":2,"ranks":8)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("links":["inside"])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("links":["across"])"), std::string::npos) << text;
}

}  // namespace
}  // namespace foretrain::parallel
