// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/network_input.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::inspector {
namespace {

// Two groups: three nodes of which two are convolutions, and one addition.
StepGroups two_groups() {
  StepGroups groups;
  groups.groups = {{.kinds = {{"conv", 2}, {"add", 1}}, .nodes = 3, .output_bytes = 100},
                   {.kinds = {{"add", 1}}, .nodes = 1, .output_bytes = 8}};
  groups.edges = {{0, 1}};
  return groups;
}

// Codes 0.5 and 0.25: 2 * 0.5 + 0.25 = 1.25 and 0.25; an operator without code counts nothing.
TEST(NetworkInput, PublishedFeaturesAreCodesBytesAndNodes) {
  const InspectorNetwork network{.nodes = NodeFeatures::Driple,
                                 .codes = {{"conv", 0.5}, {"add", 0.25}}};
  const learn::GraphInput input = network_input(two_groups(), {}, network);
  EXPECT_EQ(input.nodes.values, (std::vector<float>{1.25F, 100, 3, 0.25F, 8, 1}));
  EXPECT_EQ(input.edges, two_groups().edges);
  EXPECT_TRUE(input.whole.empty());
}

// (100 - 50) / 25 = 2, (8 - 50) / 25 = -1.68; the whole job's feature (7 - 5) / 2 = 1.
TEST(NetworkInput, StandardisesNodesAndWhole) {
  const InspectorNetwork network{.nodes = NodeFeatures::Driple,
                                 .node_standard = {{0, 50, 0}, {1, 25, 1}},
                                 .whole = {1},
                                 .whole_standard = {{5}, {2}}};
  Features features;
  features.add("a", 3);
  features.add("b", 7);
  const learn::GraphInput input = network_input(two_groups(), features, network);
  EXPECT_EQ(input.nodes.values, (std::vector<float>{0, 2, 3, 0, -1.68F, 1}));
  EXPECT_EQ(input.whole, std::vector<float>{1});
}

TEST(NetworkInput, PhysicalFeaturesAreAsManyAsSaid) {
  const InspectorNetwork network{.nodes = NodeFeatures::Physics};
  const learn::GraphInput input = network_input(two_groups(), {}, network);
  EXPECT_EQ(input.nodes.columns, node_feature_count(NodeFeatures::Physics));
  EXPECT_FLOAT_EQ(input.nodes.at(0, 0), std::log(101.0F));  // log1p of 100 bytes
}

// With physics: 2 + 0.5 + 3 * 0.1 = 2.8. Without: log(4 * 0.5) = log 2, and an output below zero
// counts as the least that was measured.
TEST(NetworkInput, OutputsBecomeLogarithms) {
  InspectorNetwork network;
  network.outputs = {{.name = "a", .physics = 0, .offset = 0.5, .scale = 3},
                     {.name = "b", .scale = 4, .least = 0.1},
                     {.name = "c", .scale = 4, .least = 0.1}};
  Features features;
  features.add("physics", 2);
  const std::vector<float> outputs{0.1F, 0.5F, -0.2F};
  const std::vector<double> logs = log_numbers(network, features, outputs);
  EXPECT_NEAR(logs[0], 2.8, 1e-6);
  EXPECT_NEAR(logs[1], std::log(2.0), 1e-6);
  EXPECT_NEAR(logs[2], std::log(0.1), 1e-6);
}

}  // namespace
}  // namespace foretrain::inspector
