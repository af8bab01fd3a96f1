// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

const Node& node_of(const Graph& graph, Kind kind) {
  return *std::find_if(graph.nodes.begin(), graph.nodes.end(),
                       [kind](const Node& node) { return node.kind == kind; });
}

DType output_type(const Graph& graph, Kind kind) {
  return graph.tensor(node_of(graph, kind).outputs[0]).type;
}

// Casts of tensors of a role.
int casts(const Graph& graph, Role role) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return node.kind == Kind::Cast && graph.tensor(node.inputs[0]).role == role;
      }));
}

// x -> linear w -> layer norm -> linear w -> softmax -> loss against a target.
Graph model() {
  Builder builder("m");
  const Dim batch = builder.batch();
  const TensorId x = builder.input("x", {batch, 4});
  const TensorId target = builder.input("target", {batch}, DType::I64);
  const TensorId w = builder.parameter("w", {4, 4});
  TensorId h = builder.add(Kind::Linear, {x, w});
  h = builder.add(Kind::LayerNorm, {h, builder.parameter("n", {4})});
  h = builder.add(Kind::Linear, {h, w});
  h = builder.add(Kind::Relu, {h});
  builder.output(h);
  builder.loss(builder.add(Kind::CrossEntropy, {h, target}));
  return builder.finish();
}

TEST(SetPrecision, LeavesFp32AndTf32AsTheyAre) {
  for (const Precision precision : {Precision::Fp32, Precision::Tf32}) {
    const Graph same = set_precision(model(), precision, Casting::Automatic);
    EXPECT_EQ(same.nodes.size(), model().nodes.size());
    EXPECT_EQ(output_type(same, Kind::Linear), DType::F32);
  }
}

TEST(Autocast, RunsProductsShortAndNormsAndLossesInFp32) {
  for (const auto& [precision, type] :
       {std::pair{Precision::Fp16, DType::F16}, std::pair{Precision::Bf16, DType::BF16}}) {
    const Graph half = set_precision(model(), precision, Casting::Automatic);
    EXPECT_NO_THROW(verify(half));
    EXPECT_EQ(output_type(half, Kind::Linear), type);
    EXPECT_EQ(output_type(half, Kind::LayerNorm), DType::F32);
    EXPECT_EQ(output_type(half, Kind::CrossEntropy), DType::F32);
    EXPECT_EQ(output_type(half, Kind::Relu), type);  // follows its input
  }
}

// w serves two layers: one cast. x, the norm's output, and the inputs of norm and loss: each
// consumer casts for itself.
TEST(Autocast, CastsParametersOnceAndActivationsForEachConsumer) {
  const Graph half = set_precision(model(), Precision::Fp16, Casting::Automatic);
  EXPECT_EQ(casts(half, Role::Parameter), 1);
  EXPECT_EQ(casts(half, Role::Input), 1);
  EXPECT_EQ(casts(half, Role::Activation), 3);
  Builder builder("twice");
  const TensorId x = builder.input("x", {builder.batch(), 4});
  for (const char* name : {"a", "b"}) {
    builder.output(builder.add(Kind::Linear, {x, builder.parameter(name, {4, 4})}));
  }
  const Graph twice = set_precision(builder.finish(), Precision::Fp16, Casting::Automatic);
  EXPECT_EQ(casts(twice, Role::Input), 2);
}

TEST(Autocast, KeepsParametersAndTheirGradientsInFp32) {
  const Graph step = backward(set_precision(model(), Precision::Fp16, Casting::Automatic));
  EXPECT_NO_THROW(verify(step));
  ASSERT_EQ(step.gradients.size(), 2U);
  for (const auto& [parameter, gradient] : step.gradients) {
    EXPECT_EQ(step.tensor(parameter).type, DType::F32);
    EXPECT_EQ(step.tensor(gradient).type, DType::F32);
  }
}

// The logits are not cast: of the three activations that are, two remain. What backward needs is
// kept in 16 bits.
TEST(Autocast, LeavesLogitsOfAFusedLossAlone) {
  const Graph half = set_precision(model(), Precision::Bf16, Casting::Automatic, true);
  EXPECT_NO_THROW(verify(half));
  EXPECT_EQ(casts(half, Role::Activation), 2);
  const Node& loss = node_of(half, Kind::CrossEntropy);
  EXPECT_EQ(half.tensor(loss.inputs[0]).type, DType::BF16);
  EXPECT_EQ(half.tensor(loss.outputs[0]).type, DType::F32);
  for (std::size_t i = 1; i < loss.outputs.size(); ++i) {
    EXPECT_EQ(half.tensor(loss.outputs[i]).type, DType::BF16);
  }
  EXPECT_NO_THROW(verify(backward(half)));
}

TEST(Autocast, LeavesIndicesAlone) {
  const Graph half = set_precision(model(), Precision::Fp16, Casting::Automatic);
  EXPECT_EQ(half.tensor(node_of(half, Kind::CrossEntropy).inputs[1]).type, DType::I64);
}

TEST(WholeModel, StoresEverythingShortWithoutCasts) {
  const Graph half = set_precision(model(), Precision::Bf16, Casting::WholeModel);
  EXPECT_NO_THROW(verify(half));
  EXPECT_EQ(casts(half, Role::Parameter) + casts(half, Role::Activation) + casts(half, Role::Input),
            0);
  EXPECT_EQ(output_type(half, Kind::LayerNorm), DType::BF16);
  EXPECT_EQ(output_type(half, Kind::CrossEntropy), DType::F32);
  for (const Tensor& tensor : half.tensors) {
    if (tensor.role == Role::Parameter) {
      EXPECT_EQ(tensor.type, DType::BF16);
    }
  }
  for (const auto& [parameter, gradient] : backward(half).gradients) {
    EXPECT_EQ(half.tensor(parameter).type, DType::BF16);
  }
}

TEST(WholeModel, IsHowFp64IsStored) {
  const Graph wide = set_precision(model(), Precision::Fp64, Casting::Automatic);
  EXPECT_EQ(output_type(wide, Kind::Linear), DType::F64);
  EXPECT_EQ(output_type(wide, Kind::CrossEntropy), DType::F64);
}

TEST(SetPrecision, KeepsOperatorsThatAreNotKnown) {
  Graph graph;
  graph.name = "m";
  graph.tensors = {{"x", {2}, DType::F32, Role::Input, false},
                   {"", {3}, DType::F32, Role::Activation, false}};
  Node node;
  node.label = "mystery";
  node.inputs = {0};
  node.outputs = {1};
  graph.nodes = {node};
  graph.outputs = {1};
  const Graph half = set_precision(graph, Precision::Fp16, Casting::Automatic);
  EXPECT_NO_THROW(verify(half));
  EXPECT_EQ(half.tensor(half.outputs[0]).shape, (Shape{3}));
}

}  // namespace
}  // namespace foretrain::graph
