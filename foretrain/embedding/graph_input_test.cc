// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/graph_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/graph/builder.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::embedding {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

Embedding bare_embedding(std::int32_t reach, std::int32_t most_virtual) {
  Embedding embedding;
  embedding.kinds = {"input", "linear", "relu", "add", "opaque"};
  embedding.reach = reach;
  embedding.most_virtual = most_virtual;
  return embedding;
}

// x [batch, 4] -> linear 6 -> reshape -> relu -> add of both.
graph::Graph small_model() {
  Builder builder("small");
  const TensorId x = builder.input("x", {builder.batch(), 4});
  const TensorId weight = builder.parameter("weight", {6, 4});
  const TensorId y = builder.add(Kind::Linear, {x, weight});
  const TensorId view = builder.add(Kind::Reshape, {y}, Attributes{{Attr::Shape, {0, 2, 3}}});
  const TensorId a = builder.add(Kind::Relu, {view});
  const TensorId sum = builder.add(Kind::Add, {a, view});
  builder.output(sum);
  return builder.finish();
}

// Nodes: the input, linear, relu, add; the view's reader is the linear's. Relu and add follow the
// linear; add is one step from both and, over them, two from nothing new: the input is two steps
// from relu and from add.
TEST(GraphInput, LeavesViewsOut) {
  const learn::DirectedInput input = graph_input(small_model(), bare_embedding(10, 64));
  EXPECT_EQ(input.kinds, (std::vector<std::int32_t>{0, 1, 2, 3}));
  std::vector<std::array<std::int32_t, 3>> edges;
  for (const learn::ReachEdge& edge : input.edges)
    edges.push_back({edge.from, edge.to, edge.steps});
  EXPECT_EQ(edges, (std::vector<std::array<std::int32_t, 3>>{
                       {0, 1, 1}, {1, 2, 1}, {0, 2, 2}, {2, 3, 1}, {1, 3, 1}, {0, 3, 2}}));
}

// The linear: 2 x 6 x 4 = 48 FLOPs, 24 parameters in 6 rows and 4 columns, an output of 6 numbers
// whose axis 1 and last axis have 6.
TEST(GraphInput, CountsOneSample) {
  const learn::DirectedInput input = graph_input(small_model(), bare_embedding(10, 64));
  const std::size_t width = feature_names().size();
  ASSERT_EQ(input.features.size(), 4 * width);
  const auto feature = [&](const char* name) {
    const auto& names = feature_names();
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    return input.features[width + static_cast<std::size_t>(place)];
  };
  EXPECT_NEAR(feature("gemm_flops"), std::log(49.0), 1e-12);
  EXPECT_NEAR(feature("output_elements"), std::log(7.0), 1e-12);
  EXPECT_NEAR(feature("parameters"), std::log(25.0), 1e-12);
  EXPECT_NEAR(feature("weight_rows"), std::log(7.0), 1e-12);
  EXPECT_NEAR(feature("weight_columns"), std::log(5.0), 1e-12);
  EXPECT_NEAR(feature("output_axis_1"), std::log(7.0), 1e-12);
  EXPECT_EQ(feature("stride"), 0);
}

// Without the limit a node of a long chain would have `reach` edges; all direct ones stay.
TEST(GraphInput, BoundsVirtualEdges) {
  const graph::Graph model = zoo::build("resnet50");
  for (const int most : {1, 3, 64}) {
    const learn::DirectedInput input = graph_input(model, bare_embedding(10, most));
    std::vector<int> direct(input.kinds.size());
    std::vector<int> virtuals(input.kinds.size());
    for (const learn::ReachEdge& edge : input.edges) {
      EXPECT_LT(edge.from, edge.to);
      EXPECT_LE(edge.steps, 10);
      ++(edge.steps == 1 ? direct : virtuals)[static_cast<std::size_t>(edge.to)];
    }
    EXPECT_LE(*std::max_element(virtuals.begin(), virtuals.end()), most);
    EXPECT_GE(*std::min_element(direct.begin() + 1, direct.end()), 1);
  }
}

TEST(GraphInput, RefusesAModelWithoutOperators) {
  Builder builder("none");
  const TensorId x = builder.input("x", {builder.batch(), 4});
  const TensorId view = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 2, 2}}});
  builder.output(view);
  EXPECT_THROW(graph_input(builder.finish(), bare_embedding(10, 64)), Error);
}

}  // namespace
}  // namespace foretrain::embedding
