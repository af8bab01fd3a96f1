// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values as one layer, and its adapter.
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

// Of [batch, 5, 16]: queries of 16 columns, keys and values of `kv`, then a product with each
// other.
Graph attention(std::int64_t kv) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 5, 16});
  const TensorId target = builder.input("target", {builder.batch(), 5, 16});
  const Scope scope(builder, "attn");
  const auto project = [&](const char* name, std::int64_t columns) {
    const Scope inner(builder, name);
    return builder.add(Kind::Linear, {x, builder.parameter("weight", {columns, 16}),
                                      builder.parameter("bias", {columns})});
  };
  const TensorId q = project("q_proj", 16);
  const TensorId k = project("k_proj", kv);
  const TensorId v = project("v_proj", kv);
  const TensorId scores = builder.add(Kind::MatMul, {k, v}, Attributes{{Attr::TransposeB, {1}}});
  const TensorId h = builder.add(Kind::MatMul, {scores, q});
  builder.output(h);
  builder.loss(builder.add(Kind::PointwiseLoss, {h, target}));
  return builder.finish();
}

int count(const Graph& graph, Kind kind, Phase phase = Phase::Forward) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [&](const Node& node) { return node.kind == kind && node.phase == phase; }));
}

const Tensor* tensor_named(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == graph.tensors.end() ? nullptr : &*found;
}

std::int64_t trained(const Graph& graph) {
  std::int64_t values = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.trainable) values += elements(tensor.shape).factor;
  }
  return values;
}

// 16 + 4 + 4 = 24 rows of 16; what was learned is as much as before.
TEST(JoinProjections, MakesOneLayerAndViewsOfIt) {
  const Graph joint = join_projections(attention(4));
  EXPECT_NO_THROW(verify(joint));
  EXPECT_EQ(count(joint, Kind::Linear), 1);
  EXPECT_EQ(count(joint, Kind::Split), 1);
  EXPECT_EQ(parameter_count(joint), parameter_count(attention(4)));
  ASSERT_NE(tensor_named(joint, "attn.qkv_proj.weight"), nullptr);
  EXPECT_EQ(tensor_named(joint, "attn.qkv_proj.weight")->shape, (Shape{24, 16}));
  EXPECT_EQ(tensor_named(joint, "attn.qkv_proj.bias")->shape, (Shape{24}));
  EXPECT_EQ(tensor_named(joint, "attn.q_proj.weight"), nullptr);
  EXPECT_EQ(joint.tensor(joint.outputs[0]).shape,
            (attention(4).tensor(attention(4).outputs[0]).shape));
}

TEST(JoinProjections, LeavesOtherModelsAlone) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 16});
  builder.enter("q_proj");
  builder.output(builder.add(Kind::Linear, {x, builder.parameter("weight", {8, 16})}));
  builder.leave();
  const Graph one = builder.finish();
  EXPECT_EQ(join_projections(one).nodes.size(), one.nodes.size());
}

// Rank 2 on queries and values of 16 columns each: A of 4 x 16, B of 32 x 2: 128 values. One
// dropout, one grouped convolution, and zeros for the keys.
TEST(JointAdapter, OfTwoPartsIsOneConvolutionBetweenZeros) {
  const Trainable what = parse_trainable("lora:rank=2,targets=q_proj+v_proj,dropout=0.1");
  const Graph lora = set_trainable(join_projections(attention(16)), what, true);
  EXPECT_NO_THROW(verify(lora));
  EXPECT_EQ(trained(lora), 128);
  EXPECT_EQ(count(lora, Kind::Dropout), 1);
  EXPECT_EQ(count(lora, Kind::Conv), 1);
  EXPECT_EQ(count(lora, Kind::Pad), 1);
  EXPECT_EQ(count(lora, Kind::Contiguous), 2);
  EXPECT_NO_THROW(verify(backward(lora)));
}

// Queries of 16 and values of 4 columns: A of 4 x 16, B of 20 x 2: 104 values, a convolution each.
TEST(JointAdapter, PartsOfUnequalWidthHaveConvolutionsOfTheirOwn) {
  const Trainable what = parse_trainable("lora:rank=2,targets=q_proj+v_proj");
  const Graph lora = set_trainable(join_projections(attention(4)), what, true);
  EXPECT_NO_THROW(verify(lora));
  EXPECT_EQ(trained(lora), 104);
  EXPECT_EQ(count(lora, Kind::Conv), 2);
  EXPECT_NO_THROW(verify(backward(lora)));
}

// All three: nothing is left for zeros.
TEST(JointAdapter, OfAllPartsNeedsNoZeros) {
  const Graph lora =
      set_trainable(join_projections(attention(16)), parse_trainable("lora:rank=2"), true);
  EXPECT_NO_THROW(verify(lora));
  EXPECT_EQ(count(lora, Kind::Pad), 0);
  EXPECT_EQ(trained(lora), 6 * 16 + 48 * 2);
}

// index_copy's gradient reads the source, which therefore is there until then.
TEST(JointAdapter, KeepsWhatWasCopiedAmongZeros) {
  const Trainable what = parse_trainable("lora:rank=2,targets=q_proj+v_proj");
  const Graph step = backward(set_trainable(join_projections(attention(16)), what, true));
  TensorId source = -1;
  for (const Node& node : step.nodes) {
    if (node.kind == Kind::Pad) source = node.inputs[0];
  }
  const auto reads = [&](const Node& node) {
    return node.phase == Phase::Backward &&
           std::find(node.inputs.begin(), node.inputs.end(), source) != node.inputs.end();
  };
  EXPECT_EQ(std::count_if(step.nodes.begin(), step.nodes.end(), reads), 1);
}

}  // namespace
}  // namespace foretrain::graph
