// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/graph_summary.h"

#include <gtest/gtest.h>

#include "foretrain/graph/builder.h"

namespace foretrain::graph {
namespace {

TEST(LayerOf, EndsAtTheFirstNumberUnlessToldOtherwise) {
  EXPECT_EQ(layer_of("layer1.0.conv1", std::nullopt), "layer1.0");
  EXPECT_EQ(layer_of("transformer.h.11.mlp.fc", std::nullopt), "transformer.h.11");
  EXPECT_EQ(layer_of("fc", std::nullopt), "fc");
  EXPECT_EQ(layer_of("", std::nullopt), "-");
  EXPECT_EQ(layer_of("layer1.0.conv1", 1), "layer1");
  EXPECT_EQ(layer_of("layer1.0.conv1", 0), "layer1.0.conv1");
  EXPECT_EQ(layer_of("layer1.0.conv1", 9), "layer1.0.conv1");
}

// Two linear layers 4 -> 8 -> 2 with bias: 4*8+8 + 8*2+2 = 58 parameters. Batch 3:
// 2*3*(4*8 + 8*2) = 288 FLOPs forward. Backward: both weights, and the input of the second
// layer only: 288 + 2*3*8*2 = 384.
TEST(GraphSummary, MatchesHandCalculation) {
  Builder builder("mlp");
  const TensorId x = builder.input("x", {builder.batch(), 4});
  const TensorId h =
      builder.add(Kind::Linear, {x, builder.parameter("w1", {8, 4}), builder.parameter("b1", {8})});
  const TensorId y =
      builder.add(Kind::Linear, {h, builder.parameter("w2", {2, 8}), builder.parameter("b2", {2})});
  builder.output(y);
  const GraphSummary summary = summarise_graph(builder.finish(), 3, std::nullopt);
  EXPECT_EQ(parameter_count(summary.step), 58);
  EXPECT_EQ(summary.forward_flops, 288);
  EXPECT_EQ(summary.backward_flops, 384);
  double parameters = 0;
  double flops = 0;
  for (const Group& layer : summary.layers) {
    parameters += layer.parameters;
    flops += layer.flops;
  }
  EXPECT_EQ(parameters, 58);
  EXPECT_EQ(flops, 288);
}

}  // namespace
}  // namespace foretrain::graph
