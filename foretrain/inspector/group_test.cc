// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/group.h"

#include <gtest/gtest.h>

#include <set>

#include "foretrain/graph/passes.h"
#include "foretrain/request/find_model.h"

namespace foretrain::inspector {
namespace {

graph::Graph model(const char* name) { return find_model(name); }

TEST(Group, DividesAllNodesIntoSoManyGroups) {
  const graph::Graph graph = model("resnet50");
  const graph::Bound bound = graph::bind(graph, {{"batch", 2}});
  const GroupedGraph grouped = group_nodes(bound, 20, 1);
  EXPECT_EQ(grouped.groups.size(), 20U);
  std::set<graph::NodeId> seen;
  for (const NodeGroup& group : grouped.groups) {
    EXPECT_FALSE(group.nodes.empty());
    EXPECT_GT(group.output_bytes, 0);
    for (const graph::NodeId node : group.nodes) EXPECT_TRUE(seen.insert(node).second);
  }
  EXPECT_EQ(seen.size() + grouped.dropped, graph.nodes.size());
  EXPECT_EQ(grouped.dropped, 0U);
}

TEST(Group, TheSameSeedGivesTheSameGroups) {
  const graph::Graph graph = model("gpt2");
  const graph::Bound bound = graph::bind(graph, {{"batch", 1}});
  const auto groups = [&](std::uint64_t seed) {
    std::vector<std::vector<graph::NodeId>> nodes;
    for (const NodeGroup& group : group_nodes(bound, 30, seed).groups) nodes.push_back(group.nodes);
    return nodes;
  };
  EXPECT_EQ(groups(1), groups(1));
  EXPECT_NE(groups(1), groups(2));
}

// Each node stands for itself; edges are those of the graph.
TEST(Group, SmallGraphsAreKept) {
  const graph::Graph graph = model("mlp");
  const graph::Bound bound = graph::bind(graph, {{"batch", 1}});
  const GroupedGraph grouped = group_nodes(bound, 1000, 1);
  EXPECT_EQ(grouped.groups.size() + grouped.dropped, graph.nodes.size());
  for (const NodeGroup& group : grouped.groups) EXPECT_EQ(group.nodes.size(), 1U);
  for (const auto& [a, b] : grouped.edges) EXPECT_LT(a, b);
}

// Communities are connected, so that a graph that was connected stays so: at least groups - 1
// edges.
TEST(Group, WhatWasConnectedStaysSo) {
  const graph::Graph graph = model("resnet18");
  const graph::Bound bound = graph::bind(graph, {{"batch", 1}});
  EXPECT_GE(group_nodes(bound, 10, 3).edges.size(), 9U);
}

TEST(Group, ProportionalGroupsGrowWithTheGraph) {
  EXPECT_EQ(proportional_groups(1), 4U);
  EXPECT_EQ(proportional_groups(100), 20U);
  EXPECT_EQ(proportional_groups(10'000), 200U);
}

}  // namespace
}  // namespace foretrain::inspector
