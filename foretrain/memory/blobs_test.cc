// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/blobs.h"

#include <gtest/gtest.h>

namespace foretrain::memory {
namespace {

// Nodes 0 and 1 of the forward pass, then a chain of five, or two that both come from node 2: 3 and
// 4, which node 5 joins.
graph::Graph step(bool branches) {
  graph::Graph graph;
  const auto node = [&](graph::Phase phase, std::vector<graph::TensorId> inputs) {
    graph::Node& added = graph.nodes.emplace_back();
    added.phase = phase;
    added.inputs = std::move(inputs);
    added.outputs = {static_cast<graph::TensorId>(graph.tensors.size())};
    graph.tensors.emplace_back();
  };
  node(graph::Phase::Forward, {});
  node(graph::Phase::Forward, {0});
  node(graph::Phase::Backward, {1});
  node(graph::Phase::Backward, {2});
  node(graph::Phase::Backward, {branches ? 2 : 3});
  node(graph::Phase::Backward, {3, 4});
  node(graph::Phase::Backward, {5});
  return graph;
}

double total(const std::vector<Storage>& storages) {
  double sum = 0;
  for (const Storage& s : storages) sum += static_cast<double>(s.bytes);
  return sum;
}

// 1000 and 2000 of the forward pass stay, though the first is not needed after node 1.
TEST(KeepBlobs, NothingOfTheForwardPassIsGivenBack) {
  const auto blobs = keep_blobs(
      {{.bytes = 1000, .born = 0, .last = 1}, {.bytes = 2000, .born = 1, .last = 4}}, step(false));
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[0].last, kForever);
  EXPECT_EQ(blobs[1].last, kForever);
}

// The gradients of nodes 2 and 3 live together: two buffers. That of node 4 begins when the first
// (500, until node 3) is free and makes it larger: 800 + 600.
TEST(KeepBlobs, GradientsShareBuffersThatGrow) {
  const auto blobs = keep_blobs({{.bytes = 500, .born = 2, .last = 3},
                                 {.bytes = 600, .born = 3, .last = 5},
                                 {.bytes = 800, .born = 4, .last = 5}},
                                step(false));
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[0].bytes, 800);
  EXPECT_EQ(blobs[1].bytes, 600);
}

// Node 4 does not come from node 3, so it may run before: it gets a buffer of its own.
TEST(KeepBlobs, BranchesDoNotShare) {
  const std::vector<Storage> gradients{{.bytes = 500, .born = 2, .last = 3},
                                       {.bytes = 800, .born = 4, .last = 5}};
  EXPECT_EQ(keep_blobs(gradients, step(false)).size(), 1U);
  EXPECT_EQ(keep_blobs(gradients, step(true)).size(), 2U);
}

// Two convolutions' workspaces are one, of the larger size; parameters' gradients are their own.
TEST(KeepBlobs, OneWorkspaceAndEachParametersGradient) {
  const auto blobs = keep_blobs({{.bytes = 64, .born = 0, .last = 0, .part = Part::Workspace},
                                 {.bytes = 100, .born = 2, .last = 6, .part = Part::Gradients},
                                 {.bytes = 128, .born = 3, .last = 3, .part = Part::Workspace},
                                 {.bytes = 100, .born = 4, .last = 6, .part = Part::Gradients}},
                                step(false));
  EXPECT_EQ(total(blobs), 128 + 200);
}

}  // namespace
}  // namespace foretrain::memory
