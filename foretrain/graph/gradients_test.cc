// SPDX-License-Identifier: Apache-2.0
// Every operator that has a gradient, with inputs that all want one.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/test_shapes.h"

namespace foretrain::graph {
namespace {

using K = Kind;
using A = Attr;

struct Case {
  Kind kind;
  std::vector<std::string> inputs;  // "i:" before a shape: indices, which have no gradient
  Attributes attributes;
};

std::vector<Case> cases() {
  std::vector<Case> all{
      {K::Reshape, {"2,6"}, {{A::Shape, {3, -1}}}},
      {K::Transpose, {"2,3,4"}, {{A::Axes, {2, 0, 1}}}},
      {K::Slice, {"2,6"}, {{A::Axis, {1}}, {A::Start, {1}}, {A::End, {4}}}},
      {K::Split, {"2,6"}, {{A::Axis, {1}}, {A::Sizes, {2, 4}}}},
      {K::Expand, {"1,6"}, {{A::Shape, {5, 6}}}},
      {K::Concat, {"2,3", "2,4"}, {{A::Axis, {1}}}},
      {K::Pad, {"2,3"}, {{A::Padding, {1, 0, 0, 2}}}},
      {K::Cast, {"2,3"}, {{A::Type, {static_cast<std::int64_t>(DType::F16)}}}},
      {K::Gather, {"7,3", "i:2,5"}, {}},
      {K::Upsample, {"2,3,4,4"}, {{A::Sizes, {8}}}},
      {K::Linear, {"2,5,3", "4,3", "4"}, {}},
      {K::Linear, {"3", "4,3", "4"}, {}},
      {K::MatMul, {"2,3,4", "2,4,5"}, {}},
      {K::MatMul, {"2,4,3", "2,4,5"}, {{A::TransposeA, {1}}}},
      {K::MatMul, {"2,3,4", "2,5,4"}, {{A::TransposeB, {1}}}},
      {K::MatMul, {"2,4,3", "2,5,4"}, {{A::TransposeA, {1}}, {A::TransposeB, {1}}}},
      {K::MatMul, {"2,7,3,4", "4,5"}, {}},
      {K::Conv, {"2,3,8,8", "4,3,3,3", "4"}, {{A::Stride, {2}}, {A::Padding, {1}}}},
      {K::Conv, {"2,4,8", "6,2,3"}, {{A::Groups, {2}}}},
      {K::Conv, {"2,3,4,4", "3,5,2,2", "5"}, {{A::Transposed, {1}}, {A::Stride, {2}}}},
      {K::Attention, {"2,4,5,8", "2,4,7,8", "2,4,7,6"}, {{A::Causal, {1}}}},
      {K::Attention, {"2,4,5,8", "2,2,7,8", "2,2,7,8", "1,4,5,7"}, {}},
      {K::Recurrent, {"6,2,5", "16,5", "16,4", "16", "16"}, {{A::Gates, {4}}, {A::Hidden, {4}}}},
      {K::Embedding, {"i:2,5", "50,8"}, {}},
      {K::Where, {"2,3", "2,3", "3"}, {}},
      {K::Where, {"1,3", "2,3"}, {}},
      {K::BatchNorm, {"2,4,5", "4", "4"}, {}},
      {K::LayerNorm, {"2,4,5", "5", "5"}, {}},
      {K::RmsNorm, {"2,4,5", "5"}, {}},
      {K::GroupNorm, {"2,4,5", "4", "4"}, {{A::Groups, {2}}}},
      {K::LayerNorm, {"2,4,5"}, {}},
      {K::Sum, {"2,4,5"}, {{A::Axes, {1}}}},
      {K::Mean, {"2,4,5"}, {{A::Axes, {0, 2}}, {A::KeepDims, {1}}}},
      {K::TopK, {"2,7"}, {{A::Sizes, {3}}}},
      {K::MaxPool, {"2,3,8,8"}, {{A::Kernel, {2}}, {A::Stride, {2}}}},
      {K::AvgPool, {"2,3,8,8"}, {{A::Kernel, {3}}, {A::Padding, {1}}}},
      {K::AdaptiveAvgPool, {"2,3,8,8"}, {{A::Sizes, {2}}}},
      {K::CrossEntropy, {"2,7", "i:2"}, {}},
      {K::PointwiseLoss, {"2,7", "i:2,7"}, {}},
      {K::Add, {"2,3", "3", "2,1"}, {}},
  };
  for (const Kind kind : {K::Sub, K::Mul, K::Div, K::Maximum, K::Minimum}) {
    all.push_back({kind, {"2,3", "3"}, {}});
    all.push_back({kind, {"1,3", "2,3"}, {}});
  }
  for (const Kind kind :
       {K::Identity,   K::Contiguous, K::Roll,  K::Relu,    K::Relu6,       K::LeakyRelu,
        K::Gelu,       K::Silu,       K::Mish,  K::Sigmoid, K::HardSigmoid, K::HardSwish,
        K::Tanh,       K::Softplus,   K::Elu,   K::Exp,     K::Log,         K::Sqrt,
        K::Rsqrt,      K::Pow,        K::Neg,   K::Abs,     K::Erf,         K::Sin,
        K::Cos,        K::Scale,      K::Shift, K::Clip,    K::Dropout,     K::Softmax,
        K::LogSoftmax, K::CumSum}) {
    all.push_back({kind, {"2,3"}, {}});
  }
  return all;
}

Graph step_of(const Case& c) {
  Builder builder("m");
  std::vector<TensorId> inputs;
  for (const std::string& text : c.inputs) {
    const bool indices = text.starts_with("i:");
    inputs.push_back(indices ? builder.input("i", shape(text.substr(2)), DType::I64)
                             : builder.parameter("p", shape(text)));
  }
  for (const TensorId id : builder.add_all(c.kind, inputs, c.attributes)) builder.output(id);
  Graph graph = builder.finish();
  std::erase_if(graph.outputs, [&](TensorId id) {  // of several outputs the first has a gradient
    return c.kind != K::Split && id != graph.nodes[0].outputs[0];
  });
  return backward(graph);
}

// Conditions of `where` and targets of losses only choose.
bool has_gradient(const Case& c, std::size_t input) {
  return !c.inputs[input].starts_with("i:") && !(c.kind == K::Where && input == 0);
}

TEST(Gradients, AreOfTheInputsShapesForEveryOperator) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(std::string(op(c.kind).name));
    const Graph step = step_of(c);
    EXPECT_NO_THROW(verify(step));
    std::size_t expected = 0;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) expected += has_gradient(c, i) ? 1 : 0;
    EXPECT_EQ(step.gradients.size(), expected);
    for (const auto& [parameter, gradient] : step.gradients) {
      EXPECT_EQ(step.tensor(gradient).shape, step.tensor(parameter).shape);
      EXPECT_EQ(step.tensor(gradient).type, step.tensor(parameter).type);
    }
  }
}

TEST(Gradients, AreTestedForEveryOperatorThatHasOne) {
  std::set<Kind> tested{Kind::Opaque};  // below
  for (const Case& c : cases()) tested.insert(c.kind);
  for (int k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    if (op(kind).family == Family::Collective) continue;  // where strategies add them
    EXPECT_EQ(tested.contains(kind), op(kind).gradient != nullptr) << op(kind).name;
  }
}

// Whatever is not a GEMM costs no GEMM backward either.
TEST(Gradients, NeedTwiceTheProductsOfTheirOperator) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(std::string(op(c.kind).name));
    const Graph step = step_of(c);
    const Bound bound = bind(step, {{"batch", 1}});
    double forward = 0;
    double back = 0;
    for (const Node& node : step.nodes) {
      (node.phase == Phase::Forward ? forward : back) += work({bound, node}).flops;
    }
    // Attention computes its scores again.
    EXPECT_EQ(back, (c.kind == K::Attention ? 2.5 : 2) * forward);
  }
}

TEST(Gradients, OfAnOpaqueOperatorAreOpaque) {
  Graph graph;
  graph.name = "m";
  graph.tensors = {{"p", {2, 3}, DType::F32, Role::Parameter, true},
                   {"q", {4}, DType::F32, Role::Parameter, true},
                   {"", {5}, DType::F32, Role::Activation, false}};
  Node node;
  node.label = "mystery";
  node.inputs = {0, 1};
  node.outputs = {2};
  graph.nodes = {node};
  graph.outputs = {2};
  const Graph step = backward(graph);
  EXPECT_NO_THROW(verify(step));
  ASSERT_EQ(step.gradients.size(), 2U);
  EXPECT_EQ(step.nodes.back().kind, Kind::Opaque);
  EXPECT_EQ(step.tensor(step.gradients[0].second).shape, (Shape{2, 3}));
  EXPECT_EQ(step.tensor(step.gradients[1].second).shape, (Shape{4}));
}

// Statistics that a norm keeps are no way for a gradient to come back.
TEST(Gradients, ComeBackThroughTheFirstOutputOnly) {
  Builder builder("m");
  const TensorId p = builder.parameter("p", {2, 4});
  builder.output(builder.add_all(Kind::LayerNorm, {p})[1]);
  EXPECT_TRUE(backward(builder.finish()).gradients.empty());
}

}  // namespace
}  // namespace foretrain::graph
