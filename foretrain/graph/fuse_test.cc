// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/test_work.h"

namespace foretrain::graph {
namespace {

Work total(const Graph& graph) { return total_work(graph, 2); }

// Three element-wise operators in a row on 2*6 numbers.
TEST(Fuse, MakesOneNodeOfAPointwiseChain) {
  Builder builder("m");
  TensorId h = builder.input("x", {builder.batch(), 6});
  for (const Kind kind : {Kind::Scale, Kind::Tanh, Kind::Relu}) h = builder.add(kind, {h});
  builder.output(h);
  const Graph model = builder.finish();
  const Graph fused = fuse(model, Fusion::Pointwise);
  EXPECT_NO_THROW(verify(fused));
  ASSERT_EQ(fused.nodes.size(), 1U);
  EXPECT_EQ(fused.nodes[0].kind, Kind::Fused);
  EXPECT_EQ(fused.nodes[0].label, "scale+tanh+relu");
  EXPECT_EQ(fused.nodes[0].inputs, std::vector<TensorId>{0});
  EXPECT_EQ(fused.nodes[0].outputs, model.outputs);
  // Each of three kernels read and wrote 12 numbers; the one reads and writes them once.
  EXPECT_EQ(total(model).read_bytes, 3 * 48);
  EXPECT_EQ(total(fused).read_bytes, 48);
  EXPECT_EQ(total(fused).written_bytes, 48);
}

TEST(Fuse, DoesNothingWhereNothingFuses) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 6});
  const TensorId h = builder.add(Kind::Relu, {x});
  builder.output(builder.add(Kind::Tanh, {h}));
  const Graph model = builder.finish();
  EXPECT_EQ(fuse(model, Fusion::None).nodes.size(), 2U);
  EXPECT_EQ(fuse(model, Fusion::NormActivation).nodes.size(), 2U);
}

TEST(Fuse, StillWritesWhatOthersRead) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 6});
  const TensorId a = builder.add(Kind::Tanh, {x});
  const TensorId b = builder.add(Kind::Sigmoid, {a});
  builder.output(builder.add(Kind::Linear, {a, builder.parameter("w", {2, 6})}));
  builder.output(b);
  const Graph fused = fuse(builder.finish(), Fusion::Pointwise);
  EXPECT_NO_THROW(verify(fused));
  ASSERT_EQ(fused.nodes.size(), 2U);
  EXPECT_EQ(fused.nodes[0].outputs, (std::vector<TensorId>{a, b}));
}

// The product in between needs the first and gives the last, so they cannot be one kernel.
TEST(Fuse, DoesNotReachAroundAProduct) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 6});
  const TensorId a = builder.add(Kind::Tanh, {x});
  const TensorId y = builder.add(Kind::Linear, {a, builder.parameter("w", {6, 6})});
  builder.output(builder.add(Kind::Add, {a, y}));
  const Graph fused = fuse(builder.finish(), Fusion::Pointwise);
  EXPECT_NO_THROW(verify(fused));
  EXPECT_EQ(fused.nodes.size(), 3U);
}

TEST(Fuse, JoinsABatchNormWithItsActivation) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8});
  const TensorId w = builder.parameter("w", {4});
  const TensorId n = builder.add(Kind::BatchNorm, {x, w});
  const TensorId s = builder.add(Kind::Add, {n, x});
  builder.output(builder.add(Kind::Relu, {s}));
  const Graph fused = fuse(builder.finish(), Fusion::NormActivation);
  EXPECT_NO_THROW(verify(fused));
  ASSERT_EQ(fused.nodes.size(), 1U);
  EXPECT_EQ(fused.nodes[0].label, "batch_norm+add+relu");
}

TEST(Fuse, JoinsAGroupNormWithItsActivation) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8});
  const TensorId n = builder.add(Kind::GroupNorm, {x}, {{Attr::Groups, {4}}});
  builder.output(builder.add(Kind::LeakyRelu, {n}));
  const Graph fused = fuse(builder.finish(), Fusion::NormActivation);
  EXPECT_NO_THROW(verify(fused));
  ASSERT_EQ(fused.nodes.size(), 1U);
}

// x and the weight, once: nobody computes statistics.
TEST(Fuse, ReadsTheInputOfAFrozenNormOnce) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8});
  const TensorId n = builder.add(Kind::BatchNorm, {x, builder.parameter("w", {4})});
  builder.output(builder.add(Kind::Relu, {n}));
  const Graph model = builder.finish();
  const double bytes = 4 * 2 * 4 * 8;
  EXPECT_EQ(total(fuse(model, Fusion::NormActivation)).read_bytes, 2 * bytes + 16);
  EXPECT_EQ(total(fuse(for_inference(model), Fusion::NormActivation)).read_bytes, bytes + 16);
}

TEST(Fuse, OfAWholeStepKeepsItsProductsAndMovesLess) {
  Builder builder("m");
  const Dim batch = builder.batch();
  TensorId h = builder.input("x", {batch, 3, 8, 8});
  int channels = 3;
  for (const char* layer : {"a", "b"}) {
    const Scope scope(builder, layer);
    h = builder.add(Kind::Conv, {h, builder.parameter("weight", {4, channels, 3, 3})},
                    {{Attr::Padding, {1}}});
    h = builder.add(Kind::BatchNorm, {h, builder.parameter("n", {4}), builder.parameter("m", {4})});
    h = builder.add(Kind::Relu, {h});
    h = builder.add(Kind::Dropout, {h});
    channels = 4;
  }
  builder.output(h);
  builder.loss(builder.add(Kind::Mean, {h}));
  const Graph step = update(backward(builder.finish()), Optimizer::Adam);
  for (const Fusion fusion : {Fusion::NormActivation, Fusion::Pointwise}) {
    const Graph fused = fuse(step, fusion);
    EXPECT_NO_THROW(verify(fused));
    EXPECT_LT(fused.nodes.size(), step.nodes.size());
    EXPECT_EQ(total(fused).flops, total(step).flops);
    EXPECT_LT(total(fused).read_bytes, total(step).read_bytes);
    EXPECT_LE(total(fused).written_bytes, total(step).written_bytes);
    EXPECT_EQ(parameter_gradients(fused).size(), step.gradients.size());
  }
  EXPECT_LT(fuse(step, Fusion::Pointwise).nodes.size(),
            fuse(step, Fusion::NormActivation).nodes.size());
}

// 64 to a kernel: 200 operators make four, 64 + 64 + 64 + 8.
// Attention's scores, then a norm behind a sum: dropout and the norm are kernels of their own.
TEST(Fuse, HandwrittenKernelsEndWithASoftmaxAndHaveNoNorm) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 6});
  const TensorId scaled = builder.add(Kind::Scale, {x});
  const TensorId masked =
      builder.add(Kind::Where, {builder.buffer("mask", {6}, DType::Bool), scaled});
  const TensorId share = builder.add(Kind::Softmax, {masked}, {{Attr::Axis, {Dim(-1)}}});
  const TensorId dropped = builder.add(Kind::Dropout, {share});
  const TensorId sum = builder.add(Kind::Add, {dropped, x});
  builder.output(builder.add(Kind::LayerNorm,
                             {sum, builder.parameter("w", {6}), builder.parameter("b", {6})}));
  const Graph fused = fuse(builder.finish(), Fusion::Handwritten);
  EXPECT_NO_THROW(verify(fused));
  std::vector<std::string> names;
  for (const Node& node : fused.nodes) names.push_back(operator_name(node));
  EXPECT_EQ(names, (std::vector<std::string>{"scale+where+softmax", "dropout+add", "layer_norm"}));
}

TEST(Fuse, StopsAt64OperatorsPerKernel) {
  Builder builder("m");
  TensorId h = builder.input("x", {builder.batch(), 6});
  for (int i = 0; i < 200; ++i) h = builder.add(Kind::Tanh, {h});
  builder.output(h);
  EXPECT_EQ(fuse(builder.finish(), Fusion::Pointwise).nodes.size(), 4U);
}

TEST(Fuse, LeavesTheOptimizerAlone) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 6});
  builder.output(builder.add(Kind::Mul, {x, builder.parameter("w", {6})}));
  const Graph step =
      update(backward(builder.finish(), GradientHandling::Accumulate), Optimizer::Adam);
  const Graph fused = fuse(step, Fusion::Pointwise);
  EXPECT_EQ(fused.nodes.front().kind, Kind::ZeroGrad);
  EXPECT_EQ(fused.nodes.back().kind, Kind::Update);
  EXPECT_TRUE(std::any_of(fused.nodes.begin(), fused.nodes.end(),
                          [](const Node& node) { return node.label == "accumulate"; }));
}

}  // namespace
}  // namespace foretrain::graph
