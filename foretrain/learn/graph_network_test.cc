// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/graph_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "foretrain/base/error.h"

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

// As released: 256 + 4,160 of the convolutions, 24,960 of the GRU, 49,664 of Set2Set, 13,196 of
// the dense layers.
TEST(GraphNetwork, OfThePaperHasItsParameters) {
  EXPECT_EQ(parameter_count(make_network(driple_shape(), 1)), 92'236U);
}

// Two nodes with features 1 and 2, both with degree 2 (themselves counted), so that every entry of
// D^-1/2 (A + I) D^-1/2 is 1/2. The weights of the GRU are zero but for the candidate's input, 1/2:
// its gates are 1/2, and the state becomes (tanh(x / 2) + h) / 2. Those of the LSTM are zero but
// for the cell's bias, 1: its gates are 1/2, and c' = (c + tanh(1)) / 2, h = tanh(c') / 2.
//   first, weight 2, bias 1:     2 (1 + 2) / 2 + 1 = 4, both
//   GRU with x = 1 and 2:        (0.4621172 + 4) / 2 = 2.2310586, (0.7615942 + 4) / 2 = 2.3807971
//   repeated, weight -1, bias 3: 3 - (2.2310586 + 2.3807971) / 2 = 0.6940722, both
//   GRU:                         tanh(1.1155293) = 0.8060082, tanh(1.1903985) = 0.8307024:
//                                0.7500402, 0.7623873
//   Set2Set, two steps:          c = 0.3807971, then 0.5711956; query tanh(0.5711956) / 2 =
//                                0.2581184; the second node's share 1 / (1 + e^-(0.2581184 *
//                                0.0123471)) = 0.5007968; read 0.7500402 + 0.5007968 * 0.0123471
//   dense 1 (1 and 10), 1, -1:   0.2581184 + 7.5622359 = 7.8203543, and -7.8203543
//   leaky ReLU at the end:       -0.07820354
TEST(GraphNetwork, MatchesAForwardPassByHand) {
  NetworkShape shape = driple_shape(4);  // two convolutions
  shape.features = shape.width = shape.outputs = 1;
  shape.readout_steps = 2;
  GraphNetwork network = make_network(shape, 1);
  for (NamedMatrix& one : network.parameters) {
    one.matrix = Matrix(one.matrix.rows, one.matrix.columns);
  }
  set(network, "first.weights", {2});
  set(network, "first.bias", {1});
  set(network, "repeated.weights", {-1});
  set(network, "repeated.bias", {3});
  set(network, "gru.input_weights", {0, 0, 0.5F});
  set(network, "set2set.input_bias", {0, 0, 1, 0});
  set(network, "dense1.weights", {1, 10});
  set(network, "dense2.weights", {1});
  set(network, "dense3.weights", {-1});
  const GraphInput graph = path(2);
  EXPECT_NEAR(evaluate(network, {&graph}).values[0], -0.07820354, 1e-7);
}

// The released design: 50 convolutions for 100 groups, as many steps of Set2Set as groups.
TEST(GraphNetwork, OfThePaperHasItsDepths) {
  const NetworkShape shape = driple_shape();
  EXPECT_EQ(shape.depth, 50U);
  EXPECT_EQ(shape.readout_steps, 100U);
  EXPECT_EQ(shape.width, 64U);
  EXPECT_EQ(shape.features, 3U);
  EXPECT_EQ(shape.outputs, 12U);
  EXPECT_TRUE(shape.gru);
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

// Graphs in one batch do not see each other, whatever the layers: the same bits as alone.
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
        EXPECT_EQ(both.at(1, j), second.at(0, j))
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
  for (float& value : copied.parameters[4].matrix.values) value += 1;
  EXPECT_NE(evaluate(copied, {&graph}).values, evaluate(plain, {&graph}).values);
}

// Many graphs of other sizes, on one thread and on several.
TEST(GraphNetwork, DoesNotDependOnThreads) {
  std::vector<GraphInput> graphs;
  graphs.reserve(13);
  for (std::size_t i = 0; i < 13; ++i) graphs.push_back(path(1 + 17 * i % 90, 3));
  std::vector<const GraphInput*> all;
  all.reserve(graphs.size());
  for (const GraphInput& graph : graphs) all.push_back(&graph);
  const GraphNetwork network = make_network({.width = 8, .depth = 4, .readout_steps = 0}, 3);
  EXPECT_EQ(evaluate(network, all, 1).values, evaluate(network, all, 3).values);
  EXPECT_TRUE(evaluate(network, {}).values.empty());
  Evaluator evaluator(network);
  evaluator.evaluate(all);
  EXPECT_EQ(evaluator.evaluate(all).values, evaluate(network, all, 1).values);
}

TEST(GraphNetwork, RefusesGraphsThatItCannotRead) {
  const GraphNetwork network = make_network({.width = 4, .depth = 2, .readout_steps = 2}, 3);
  GraphInput edge = path(3, 3);
  edge.edges.emplace_back(0, 3);
  for (const GraphInput& graph : {path(3, 2), path(0, 3), edge}) {
    EXPECT_THROW(evaluate(network, {&graph}), Error);
  }
}

TEST(GraphNetwork, NamesItsParts) {
  EXPECT_EQ(convolution_named("gat"), Convolution::Gat);
  EXPECT_EQ(readout_named("set2set"), Readout::Set2Set);
  EXPECT_FALSE(convolution_named("cnn"));
}

}  // namespace
}  // namespace foretrain::learn
