// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/backward.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

double gemm_flops(const Graph& graph, Phase phase) {
  const Bound bound = bind(graph, {{"batch", 2}});
  double flops = 0;
  for (const Node& node : graph.nodes) {
    if (node.phase == phase) flops += work({bound, node}).flops;
  }
  return flops;
}

int count(const Graph& graph, Kind kind, Phase phase) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [&](const Node& node) { return node.kind == kind && node.phase == phase; }));
}

TensorId named(const Graph& graph, const std::string& name) {
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].name == name) return static_cast<TensorId>(t);
  }
  return -1;
}

bool has_gradient(const Graph& step, const std::string& name) {
  const TensorId id = named(step, name);
  return std::any_of(step.gradients.begin(), step.gradients.end(),
                     [id](const auto& pair) { return pair.first == id; });
}

// x [batch, 3] -> 4 -> relu -> 5, cross entropy.
Graph two_layers() {
  Builder builder("mlp");
  const TensorId x = builder.input("x", {builder.batch(), 3});
  const TensorId target = builder.input("target", {builder.batch()}, DType::I64);
  const TensorId h =
      builder.add(Kind::Linear, {x, builder.parameter("w1", {4, 3}), builder.parameter("b1", {4})});
  const TensorId a = builder.add(Kind::Relu, {h});
  const TensorId y = builder.add(Kind::Linear, {a, builder.parameter("w2", {5, 4})});
  builder.output(y);
  builder.loss(builder.add(Kind::CrossEntropy, {y, target}));
  return builder.finish();
}

// Forward, batch 2: 2*2*4*3 + 2*2*5*4 = 48 + 80. Backward: each weight's gradient as much again
// (128), and the gradient of the hidden layer (80), but none of the input.
TEST(Backward, ComputesTwiceTheProductsButForTheFirstLayersInput) {
  const Graph step = backward(two_layers());
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(gemm_flops(step, Phase::Forward), 128);
  EXPECT_EQ(gemm_flops(step, Phase::Backward), 128 + 80);
}

// y = (x w1) * detach(x w2): the gradient reaches w1 alone, one GEMM of 2*2*4*3.
TEST(Backward, EndsWhereATensorIsDetached) {
  Builder builder("gate");
  const TensorId x = builder.input("x", {builder.batch(), 3});
  const TensorId a = builder.add(Kind::Linear, {x, builder.parameter("w1", {4, 3})});
  const TensorId b = builder.add(Kind::Linear, {x, builder.parameter("w2", {4, 3})});
  builder.output(builder.add(Kind::Mul, {a, builder.add(Kind::Detach, {b})}));
  const Graph step = backward(builder.finish());
  EXPECT_TRUE(has_gradient(step, "w1"));
  EXPECT_FALSE(has_gradient(step, "w2"));
  EXPECT_EQ(gemm_flops(step, Phase::Backward), 48);
}

// Two convolutions of 3x3 over 8x8 with padding, 3 -> 4 -> 5 channels, batch 2:
// 2 * 2*4*64 * 27 = 27,648 and 2 * 2*5*64 * 36 = 46,080 FLOPs forward; backward 2x less 27,648.
TEST(Backward, ComputesTwiceTheConvolutionsButForTheFirstLayersInput) {
  Builder builder("cnn");
  const Attributes same{{Attr::Padding, {1}}};
  const TensorId x = builder.input("x", {builder.batch(), 3, 8, 8});
  const TensorId h = builder.add(Kind::Conv, {x, builder.parameter("w1", {4, 3, 3, 3})}, same);
  builder.output(builder.add(Kind::Conv, {h, builder.parameter("w2", {5, 4, 3, 3})}, same));
  const Graph step = backward(builder.finish());
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(gemm_flops(step, Phase::Forward), 27648 + 46080);
  EXPECT_EQ(gemm_flops(step, Phase::Backward), 2 * (27648 + 46080) - 27648);
  EXPECT_EQ(count(step, Kind::ConvInputGrad, Phase::Backward), 1);
  EXPECT_EQ(count(step, Kind::ConvWeightGrad, Phase::Backward), 2);
}

// Grouped and transposed convolutions: every GEMM is counted again for each gradient.
TEST(Backward, CountsGroupedAndTransposedConvolutionsAsOftenAsForward) {
  for (const Attributes& attributes : {Attributes{{Attr::Groups, {2}}},
                                       Attributes{{Attr::Transposed, {1}}, {Attr::Stride, {2}}}}) {
    Builder builder("cnn");
    const bool transposed = attributes.number(Attr::Transposed, 0) != 0;
    const TensorId x = builder.parameter("x", {2, 4, 8, 8});
    const TensorId w = builder.parameter("w", transposed ? Shape{4, 6, 3, 3} : Shape{6, 2, 3, 3});
    builder.output(builder.add(Kind::Conv, {x, w}, attributes));
    const Graph step = backward(builder.finish());
    EXPECT_EQ(gemm_flops(step, Phase::Backward), 2 * gemm_flops(step, Phase::Forward));
  }
}

TEST(Backward, GivesEveryTrainableParameterAGradientOfItsShapeAndType) {
  const Graph step = backward(two_layers());
  ASSERT_EQ(step.gradients.size(), 3U);
  for (const auto& [parameter, gradient] : step.gradients) {
    EXPECT_EQ(step.tensor(gradient).shape, step.tensor(parameter).shape);
    EXPECT_EQ(step.tensor(gradient).type, step.tensor(parameter).type);
    EXPECT_EQ(step.tensor(gradient).role, Role::Gradient);
  }
}

// Only the second layer learns: the first layer's GEMMs have no gradients at all.
TEST(Backward, StopsAtFrozenParameters) {
  Graph model = two_layers();
  for (const char* name : {"w1", "b1"}) model.tensor(named(model, name)).trainable = false;
  const Graph step = backward(model);
  EXPECT_FALSE(has_gradient(step, "w1"));
  EXPECT_FALSE(has_gradient(step, "b1"));
  EXPECT_TRUE(has_gradient(step, "w2"));
  EXPECT_EQ(gemm_flops(step, Phase::Backward), 80);  // of w2 only
}

TEST(Backward, PassesThroughFrozenLayersToThoseBefore) {
  Graph model = two_layers();
  model.tensor(named(model, "w2")).trainable = false;
  const Graph step = backward(model);
  EXPECT_TRUE(has_gradient(step, "w1"));
  EXPECT_FALSE(has_gradient(step, "w2"));
  EXPECT_EQ(gemm_flops(step, Phase::Backward), 80 + 48);  // of the hidden layer, of w1
}

// h goes to three consumers, so two additions sum up its gradient.
TEST(Backward, AddsUpTheGradientsOfSeveralConsumers) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 4});
  const TensorId h = builder.add(Kind::Linear, {x, builder.parameter("w", {4, 4})});
  const TensorId a = builder.add(Kind::Sigmoid, {h});
  const TensorId b = builder.add(Kind::Tanh, {h});
  const TensorId c = builder.add(Kind::Gelu, {h});
  builder.output(builder.add(Kind::Add, {a, b, c}));
  const Graph step = backward(builder.finish());
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(count(step, Kind::Add, Phase::Backward), 2);
}

TEST(Backward, AddsUpAWeightThatIsUsedTwice) {
  Builder builder("m");
  const TensorId w = builder.parameter("w", {4, 4});
  const TensorId x = builder.input("x", {builder.batch(), 4});
  builder.output(builder.add(Kind::Linear, {builder.add(Kind::Linear, {x, w}), w}));
  const Graph step = backward(builder.finish());
  EXPECT_EQ(step.gradients.size(), 1U);
  EXPECT_EQ(count(step, Kind::Add, Phase::Backward), 1);
}

TEST(Backward, SumsABroadcastGradientDownToItsInput) {
  Builder builder("m");
  const TensorId bias = builder.parameter("bias", {4});
  const TensorId x = builder.input("x", {builder.batch(), 4});
  builder.output(builder.add(Kind::Add, {x, bias}));
  const Graph step = backward(builder.finish());
  EXPECT_EQ(count(step, Kind::SumTo, Phase::Backward), 1);
  EXPECT_EQ(step.tensor(step.gradients[0].second).shape, (Shape{4}));
}

// Frameworks save a relu's output but a gelu's input.
TEST(Backward, ReadsWhatAutogradSaves) {
  for (const auto& [kind, output] : {std::pair{Kind::Relu, true}, std::pair{Kind::Gelu, false}}) {
    Builder builder("m");
    const TensorId w = builder.parameter("w", {4});
    const TensorId y = builder.add(kind, {w});
    builder.output(y);
    const Graph step = backward(builder.finish());
    const Node& gradient = step.nodes.back();
    ASSERT_EQ(gradient.kind, Kind::PointwiseGrad);
    EXPECT_EQ(gradient.inputs[1], output ? y : w);
    EXPECT_EQ(describe(gradient), std::string(op(kind).name) + "_grad");
  }
}

TEST(Backward, ListsGradientsInTheOrderInWhichTheyAreReady) {
  const Graph step = backward(two_layers());
  const std::vector<ParameterGradient> ready = parameter_gradients(step);
  ASSERT_EQ(ready.size(), 3U);
  EXPECT_EQ(ready.front().parameter, named(step, "w2"));  // the last layer is the first
  for (std::size_t i = 1; i < ready.size(); ++i) EXPECT_LE(ready[i - 1].ready, ready[i].ready);
}

TEST(Backward, AddsToZeroedGradientsWhereTheyAccumulate) {
  const Graph step = backward(two_layers(), GradientHandling::Accumulate);
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(step.nodes.front().kind, Kind::ZeroGrad);
  EXPECT_EQ(step.nodes.front().inputs.size(), 3U);
  EXPECT_EQ(std::count_if(step.nodes.begin(), step.nodes.end(),
                          [](const Node& node) { return node.label == "accumulate"; }),
            3);
  for (const ParameterGradient& gradient : parameter_gradients(step)) {
    EXPECT_EQ(step.nodes[static_cast<std::size_t>(gradient.ready)].label, "accumulate");
  }
}

TEST(Backward, RefusesAStepThatHasOne) { EXPECT_THROW(backward(backward(two_layers())), Error); }

TEST(Backward, LeavesAModelWithoutParametersAlone) {
  Builder builder("m");
  builder.output(builder.add(Kind::Relu, {builder.input("x", {builder.batch(), 4})}));
  const Graph step = update(backward(builder.finish()), Optimizer::Adam);
  EXPECT_NO_THROW(verify(step));
  EXPECT_TRUE(step.gradients.empty());
  EXPECT_EQ(count(step, Kind::Update, Phase::Update), 0);
}

// Adam keeps two values per parameter, plain gradient descent none.
TEST(Update, TakesAllParametersThenTheirGradients) {
  const Graph step = update(backward(two_layers()), Optimizer::Adam);
  EXPECT_NO_THROW(verify(step));
  const Node& node = step.nodes.back();
  ASSERT_EQ(node.kind, Kind::Update);
  ASSERT_EQ(node.inputs.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(node.inputs[i], step.gradients[i].first);
    EXPECT_EQ(node.inputs[i + 3], step.gradients[i].second);
  }
  const auto states = [](const Graph& graph) {
    return std::count_if(graph.tensors.begin(), graph.tensors.end(),
                         [](const Tensor& t) { return t.role == Role::OptimizerState; });
  };
  EXPECT_EQ(states(step), 6);
  EXPECT_EQ(states(update(backward(two_layers()), Optimizer::Sgd)), 0);
}

}  // namespace
}  // namespace foretrain::graph
