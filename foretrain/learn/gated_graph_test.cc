// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/gated_graph.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "foretrain/base/error.h"

namespace foretrain::learn {
namespace {

// Width 3, one hidden number per message. Gates are all 1/2 and the candidate is tanh of what is
// received, so an update is s' = tanh(m) / 2 + s / 2. near(s) = (max(s_0, 0), 0, 0),
// far(s) = (0, 2 max(s_0, 0), 0), totals = h's first number plus the feature. Kind 1 starts with
// (0, 1, 0); the feature is added to the first number.
GatedGraph simple_network() {
  GatedGraph network{{.kinds = 2, .features = 1, .width = 3, .message = 1}, {}};
  for (const ParameterSize& size : parameter_sizes(network.shape)) {
    network.parameters.push_back({size.name, Matrix(size.rows, size.columns)});
  }
  const auto set = [&](const std::string& name, std::size_t row, std::size_t column, float value) {
    for (NamedMatrix& one : network.parameters) {
      if (one.name == name) one.matrix.at(row, column) = value;
    }
  };
  set("features.deviation", 0, 0, 1);
  set("kinds", 1, 1, 1);
  set("sizes.weights", 0, 0, 1);
  set("near.first.weights", 0, 0, 1);
  set("near.second.weights", 0, 0, 1);
  set("far.first.weights", 0, 0, 1);
  set("far.second.weights", 0, 1, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    set("gru.input.weights", i, 6 + i, 1);  // gates are reset, update, candidate
    set("norm.gain", 0, i, 1);
  }
  set("totals.weights", 0, 0, 1);
  set("totals.weights", 3, 0, 1);
  return network;
}

// 0 -> 1 -> 2, and 0 reaches 2 in two steps.
DirectedInput chain() { return {{0, 1, 0}, {2, 0, 0}, {{0, 1, 1}, {1, 2, 1}, {0, 2, 2}}}; }

using Row = std::array<double, 3>;

Row layer_norm(const Row& row) {
  const double mean = (row[0] + row[1] + row[2]) / 3;
  double variance = 0;
  for (const double value : row) variance += (value - mean) * (value - mean) / 3;
  Row made{};
  for (std::size_t i = 0; i < 3; ++i) made[i] = (row[i] - mean) / std::sqrt(variance + 1e-5);
  return made;
}

// Start: (2, 0, 0), (0, 1, 0), (0, 0, 0).
// Forward. 0 receives nothing: (1, 0, 0). 1 receives near = (1, 0, 0): (t / 2, 1 / 2, 0) with
// t = tanh 1. 2 receives near (t / 2, 0, 0) and far / 2 = (0, 1, 0): (tanh(t / 2) / 2, t / 2, 0).
// Back. 2 receives nothing: (u, t / 4, 0) with u = tanh(t / 2) / 4. 1 receives (u, 0, 0):
// (v, 1 / 4, 0) with v = tanh(u) / 2 + t / 4. 0 receives near (v, 0, 0) and far / 2 = (0, u, 0):
// (tanh(v) / 2 + 1 / 2, tanh(u) / 2, 0).
std::array<Row, 3> chain_states() {
  const double t = std::tanh(1.0);
  const double u = std::tanh(t / 2) / 4;
  const double v = std::tanh(u) / 2 + t / 4;
  return {layer_norm({std::tanh(v) / 2 + 0.5, std::tanh(u) / 2, 0}), layer_norm({v, 0.25, 0}),
          layer_norm({u, t / 4, 0})};
}

TEST(GatedGraph, MatchesHandCalculation) {
  GatedGraphEvaluator evaluator(simple_network());
  const Matrix states = evaluator.states(chain());
  const std::array<Row, 3> expected = chain_states();
  ASSERT_EQ(states.rows, 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(states.at(i, j), expected[i][j], 2e-6);
  }
}

// The mean of the states; then log(e^a + e^b + e^c) of totals, which are h_0 + 2, h_0 and h_0, and
// log 3 where totals are 0.
TEST(GatedGraph, PoolsItsStates) {
  GatedGraphEvaluator evaluator(simple_network());
  const std::vector<float> embedding = evaluator.embed(chain());
  const std::array<Row, 3> h = chain_states();
  ASSERT_EQ(embedding.size(), 6U);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(embedding[j], (h[0][j] + h[1][j] + h[2][j]) / 3, 2e-6);
  }
  EXPECT_NEAR(embedding[3], std::log(std::exp(h[0][0] + 2) + std::exp(h[1][0]) + std::exp(h[2][0])),
              2e-6);
  EXPECT_NEAR(embedding[4], std::log(3.0), 1e-6);
}

// Without edges a node's state does not depend on the others.
TEST(GatedGraph, NodesApartDoNotSeeEachOther) {
  GatedGraphEvaluator evaluator(simple_network());
  const Matrix both = evaluator.states({{0, 1}, {2, 0}, {}});
  const Matrix alone = evaluator.states({{1}, {0}, {}});
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(both.at(1, j), alone.at(0, j));
}

TEST(GatedGraph, RefusesGraphsThatAreNone) {
  GatedGraphEvaluator evaluator(simple_network());
  EXPECT_THROW(evaluator.states({}), Error);
  EXPECT_THROW(evaluator.states({{2}, {0}, {}}), Error);                 // a kind too many
  EXPECT_THROW(evaluator.states({{0}, {0, 0}, {}}), Error);              // a feature too many
  EXPECT_THROW(evaluator.states({{0, 0}, {0, 0}, {{1, 0, 1}}}), Error);  // backwards
  EXPECT_THROW(evaluator.states({{0, 0}, {0, 0}, {{0, 2, 1}}}), Error);  // no such node
  EXPECT_THROW(evaluator.states({{0, 0}, {0, 0}, {{-1, 1, 1}}}), Error);
}

}  // namespace
}  // namespace foretrain::learn
