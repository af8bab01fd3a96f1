// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/graph_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace foretrain::learn {
namespace {

// A path of `nodes` nodes with features 1, 2, 3, ...
GraphInput path(std::size_t nodes, std::size_t features = 1) {
  GraphInput graph;
  graph.nodes = Matrix(nodes, features);
  std::iota(graph.nodes.values.begin(), graph.nodes.values.end(), 1.0F);
  for (std::size_t i = 1; i < nodes; ++i) {
    graph.edges.emplace_back(static_cast<std::int32_t>(i - 1), static_cast<std::int32_t>(i));
  }
  return graph;
}

void set(GraphNetwork& network, const std::string& name, std::vector<float> values) {
  for (NamedMatrix& one : network.parameters) {
    if (one.name != name) continue;
    ASSERT_EQ(one.matrix.values.size(), values.size()) << name;
    one.matrix.values = std::move(values);
    return;
  }
  FAIL() << name;
}

// As published: 256 + 4,160 of the convolutions, 24,960 of the GRU, 49,664 of Set2Set, 13,196 of
// the dense layers.
TEST(GraphNetwork, OfThePaperHasItsParameters) {
  EXPECT_EQ(parameter_count(make_network({}, 1)), 92'236U);
}

// Two nodes with features 1 and 2, both with degree 2 (themselves counted), so that every entry of
// D^-1/2 (A + I) D^-1/2 is 1/2. First convolution, weight 2, bias 1: both 2 (1 + 2) / 2 + 1 = 4.
// The repeated one, weight -1, bias 3: both -4 + 3 = -1, leaky -0.01. Their mean is -0.01; dense
// layers of weight 1 and bias 0, 1, 2: -0.01, leaky -0.0001; + 1 = 0.9999; + 2 = 2.9999.
TEST(GraphNetwork, MatchesAForwardPassByHand) {
  GraphNetwork network = make_network(
      {.readout = Readout::Mean, .gru = false, .features = 1, .width = 1, .depth = 2, .outputs = 1},
      1);
  set(network, "first.weights", {2});
  set(network, "first.bias", {1});
  set(network, "repeated.weights", {-1});
  set(network, "repeated.bias", {3});
  for (const char* name : {"dense1.weights", "dense2.weights", "dense3.weights"})
    set(network, name, {1});
  set(network, "dense1.bias", {0});
  set(network, "dense2.bias", {1});
  set(network, "dense3.bias", {2});
  const GraphInput graph = path(2);
  EXPECT_NEAR(evaluate(network, {&graph}).values[0], 2.9999, 1e-6);
}

// One node, all weights zero but the query's output bias: the attention of Set2Set has one node to
// look at, so its part of the readout is that node's state, whatever the query.
TEST(GraphNetwork, Set2SetOfOneNodeReadsThatNode) {
  GraphNetwork network = make_network(
      {.gru = false, .features = 1, .width = 1, .depth = 1, .readout_steps = 3, .outputs = 1}, 1);
  for (NamedMatrix& one : network.parameters)
    one.matrix = Matrix(one.matrix.rows, one.matrix.columns);
  set(network, "first.weights", {5});
  set(network, "dense1.weights", {0, 1});  // of query and of what it read
  set(network, "dense2.weights", {1});
  set(network, "dense3.weights", {1});
  const GraphInput graph = path(1);
  EXPECT_FLOAT_EQ(evaluate(network, {&graph}).values[0], 5);
}

// Graphs in one batch do not see each other, whatever the layers.
TEST(GraphNetwork, AnswersEachGraphOfABatchAsAlone) {
  const GraphInput a = path(5, 3);
  const GraphInput b = path(9, 3);
  for (const Convolution convolution :
       {Convolution::Gcn, Convolution::Gin, Convolution::Gat, Convolution::Mpnn}) {
    for (const Readout readout :
         {Readout::Set2Set, Readout::Mean, Readout::Max, Readout::Attention}) {
      const GraphNetwork network = make_network({.convolution = convolution,
                                                 .readout = readout,
                                                 .width = 8,
                                                 .depth = 4,
                                                 .readout_steps = 5,
                                                 .outputs = 2},
                                                7);
      const Matrix both = evaluate(network, {&a, &b});
      const Matrix second = evaluate(network, {&b});
      for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_NEAR(both.at(1, j), second.at(0, j), 1e-5)
            << name_of(convolution) << ", " << name_of(readout);
      }
      EXPECT_GT(std::abs(both.at(0, 0) - both.at(1, 0)), 1e-7);
    }
  }
}

// The order of nodes does not matter: a path read backwards is the same graph.
TEST(GraphNetwork, DoesNotDependOnTheOrderOfNodes) {
  const GraphInput graph = path(6, 3);
  GraphInput reversed = graph;
  for (std::size_t i = 0; i < 6; ++i) std::copy_n(graph.nodes.row(5 - i), 3, reversed.nodes.row(i));
  const GraphNetwork network = make_network({.width = 16, .depth = 6, .readout_steps = 6}, 3);
  const Matrix one = evaluate(network, {&graph});
  const Matrix other = evaluate(network, {&reversed});
  for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(one.at(0, j), other.at(0, j), 1e-5);
}

// A copy of the repeated convolution with the same values changes nothing; with others it does.
TEST(GraphNetwork, UsesTheCopyFromItsRepetitionOn) {
  const NetworkShape shape{.width = 8, .depth = 4, .readout_steps = 3};
  const GraphNetwork plain = make_network(shape, 5);
  NetworkShape with_copy = shape;
  with_copy.copied_from = 2;
  GraphNetwork copied{with_copy, {}};
  for (const NamedMatrix& one : plain.parameters) {
    copied.parameters.push_back(one);
    if (one.name != "repeated.bias") continue;
    copied.parameters.push_back({"copied.weights", plain.parameters[2].matrix});
    copied.parameters.push_back({"copied.bias", plain.parameters[3].matrix});
  }
  const GraphInput graph = path(4, 3);
  EXPECT_EQ(evaluate(copied, {&graph}).values, evaluate(plain, {&graph}).values);
  copied.parameters[4].matrix.values[0] += 1;
  EXPECT_NE(evaluate(copied, {&graph}).values, evaluate(plain, {&graph}).values);
}

TEST(GraphNetwork, NamesItsParts) {
  EXPECT_EQ(convolution_named("gat"), Convolution::Gat);
  EXPECT_EQ(readout_named("set2set"), Readout::Set2Set);
  EXPECT_FALSE(convolution_named("cnn"));
}

}  // namespace
}  // namespace foretrain::learn
