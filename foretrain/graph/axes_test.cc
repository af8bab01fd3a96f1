// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/axes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/graph/builder.h"

namespace foretrain::graph {
namespace {

using Names = std::vector<AxisName>;

bool is_whole(const NodeAxes& axes, AxisName name) {
  return std::find(axes.whole.begin(), axes.whole.end(), name) != axes.whole.end();
}

// The axes of the last node.
NodeAxes axes_of_last(Builder& builder) {
  const Graph graph = builder.finish();
  const std::optional<NodeAxes> axes = axes_of(graph, graph.nodes.back());
  EXPECT_TRUE(axes);
  return axes.value_or(NodeAxes{});
}

// [b, s, k] times [n, k]: the batch and the sequence stay, k is summed over, n is new.
TEST(Axes, OfALinearLayer) {
  Builder builder("test");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8});
  builder.add(Kind::Linear, {x, builder.parameter("w", {6, 8}), builder.parameter("b", {6})});
  const NodeAxes axes = axes_of_last(builder);
  EXPECT_EQ(axes.inputs[0][2], axes.inputs[1][1]);
  EXPECT_EQ(axes.inputs[1][0], axes.inputs[2][0]);
  EXPECT_EQ(axes.outputs[0], (Names{axes.inputs[0][0], axes.inputs[0][1], axes.inputs[1][0]}));
}

TEST(Axes, OfATransposedProduct) {
  Builder builder("test");
  const TensorId q = builder.input("q", {builder.batch(), 2, 4, 8});
  const TensorId k = builder.input("k", {builder.batch(), 2, 5, 8});
  builder.add(Kind::MatMul, {q, k}, Attributes{{Attr::TransposeB, {1}}});
  const NodeAxes axes = axes_of_last(builder);
  EXPECT_EQ(axes.inputs[0][3], axes.inputs[1][3]);
  EXPECT_EQ(axes.outputs[0],
            (Names{axes.inputs[0][0], axes.inputs[0][1], axes.inputs[0][2], axes.inputs[1][2]}));
}

// A bias of [8] meets the last axis alone; a mask of [1, 4] is the same for the whole batch.
TEST(Axes, OfValuesThatAreBroadcast) {
  Builder builder("test");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8});
  builder.add(Kind::Add, {x, builder.parameter("b", {4, 1})});
  const NodeAxes axes = axes_of_last(builder);
  EXPECT_EQ(axes.inputs[1], (Names{axes.inputs[0][1], kNoAxis}));
}

TEST(Axes, OfWhatNeedsAllValues) {
  Builder softmax("test");
  softmax.add(Kind::Softmax, {softmax.input("x", {softmax.batch(), 4, 8})},
              Attributes{{Attr::Axis, {-2}}});
  const NodeAxes axes = axes_of_last(softmax);
  EXPECT_TRUE(is_whole(axes, axes.inputs[0][1]));
  EXPECT_FALSE(is_whole(axes, axes.inputs[0][0]));
  EXPECT_FALSE(is_whole(axes, axes.inputs[0][2]));
  Builder norm("test");
  norm.add(Kind::RmsNorm, {norm.input("x", {norm.batch(), 4, 8}), norm.parameter("w", {8})});
  const NodeAxes normed = axes_of_last(norm);
  EXPECT_TRUE(is_whole(normed, normed.inputs[0][2]));
  EXPECT_FALSE(is_whole(normed, normed.inputs[0][1]));
}

TEST(Axes, OfSumsTransposesAndLookUps) {
  Builder sum("test");
  sum.add(Kind::Sum, {sum.input("x", {sum.batch(), 4, 8})},
          Attributes{{Attr::Axes, {1}}, {Attr::KeepDims, {1}}});
  NodeAxes axes = axes_of_last(sum);
  EXPECT_EQ(axes.outputs[0], (Names{axes.inputs[0][0], kNoAxis, axes.inputs[0][2]}));
  Builder turned("test");
  turned.add(Kind::Transpose, {turned.input("x", {turned.batch(), 4, 8})},
             Attributes{{Attr::Axes, {2, 0, 1}}});
  axes = axes_of_last(turned);
  EXPECT_EQ(axes.outputs[0], (Names{axes.inputs[0][2], axes.inputs[0][0], axes.inputs[0][1]}));
  Builder gather("test");
  gather.add(Kind::Gather, {gather.input("x", {9, 8}), gather.input("i", {3, 2}, DType::I64)},
             Attributes{{Attr::Axis, {0}}});
  axes = axes_of_last(gather);
  EXPECT_EQ(axes.outputs[0], (Names{axes.inputs[1][0], axes.inputs[1][1], axes.inputs[0][1]}));
  EXPECT_TRUE(is_whole(axes, axes.inputs[0][0]));
}

// Features become heads; heads that are merged with the batch lie inside of it, and are found
// again.
TEST(Reshape, FollowsAFactor) {
  const Dim batch = symbol(0);
  const Shape tokens{batch, Dim(4), Dim(12)};
  const Shape heads{batch, Dim(4), Dim(3), Dim(4)};
  EXPECT_EQ(through_reshape(tokens, heads, {2, Dim(1)}), (AxisFactor{2, Dim(1)}));
  EXPECT_EQ(through_reshape(heads, tokens, {2, Dim(1)}), (AxisFactor{2, Dim(1)}));
  const Shape turned{batch, Dim(3), Dim(4), Dim(4)};
  const Shape merged{batch * Dim(3), Dim(4), Dim(4)};
  EXPECT_EQ(through_reshape(turned, merged, {1, Dim(1)}), (AxisFactor{0, batch}));
  EXPECT_EQ(through_reshape(merged, turned, {0, batch}), (AxisFactor{1, Dim(1)}));
  EXPECT_EQ(through_reshape(tokens, {batch * Dim(4), Dim(12)}, {1, Dim(1)}),
            (AxisFactor{0, batch}));
}

}  // namespace
}  // namespace foretrain::graph
