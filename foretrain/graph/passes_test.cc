// SPDX-License-Identifier: Apache-2.0
// Passes over a model: attention, what is trained, inference.
#include "foretrain/graph/passes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/cpu_attention.h"
#include "foretrain/graph/op.h"

namespace foretrain::graph {
namespace {

int count(const Graph& graph, Kind kind) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                        [kind](const Node& node) { return node.kind == kind; }));
}

double gemm_flops(const Graph& graph) {
  const Bound bound = bind(graph, {{"batch", 2}});
  double flops = 0;
  for (const Node& node : graph.nodes) flops += work({bound, node}).flops;
  return flops;
}

std::vector<std::string> trainable(const Graph& graph) {
  std::vector<std::string> names;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.trainable) names.push_back(tensor.name);
  }
  return names;
}

// 8 query heads of size 16 over 5 queries and 7 keys in `kv` heads.
Graph attention(int kv, const Attributes& attributes) {
  Builder builder("m");
  const Dim batch = builder.batch();
  const TensorId q = builder.input("q", {batch, 8, 5, 16});
  const TensorId k = builder.input("k", {batch, kv, 7, 16});
  const TensorId v = builder.input("v", {batch, kv, 7, 12});
  builder.output(builder.add(Kind::Attention, {q, k, v}, attributes));
  return builder.finish();
}

// Scores 2 * 2*8*5*7 * 16 = 17,920, values 2 * 2*8*5*12 * 7 = 13,440: 31,360 either way.
TEST(ExpandAttention, KeepsShapesAndProducts) {
  for (const int kv : {8, 2, 1}) {
    const Graph model = attention(kv, {});
    const Graph expanded = expand_attention(model);
    EXPECT_NO_THROW(verify(expanded));
    EXPECT_EQ(count(expanded, Kind::Attention), 0);
    EXPECT_EQ(count(expanded, Kind::MatMul), 2);
    EXPECT_EQ(expanded.tensor(expanded.outputs[0]).shape, model.tensor(model.outputs[0]).shape);
    EXPECT_EQ(gemm_flops(model), 31360);
    EXPECT_EQ(gemm_flops(expanded), 31360);
    EXPECT_EQ(count(expanded, Kind::Contiguous), kv == 8 ? 0 : 2);  // keys and values repeated
  }
}

TEST(ExpandAttention, AddsMasksAndDropoutWhereTheyAre) {
  const Graph plain = expand_attention(attention(8, {}));
  EXPECT_EQ(count(plain, Kind::Where) + count(plain, Kind::Add) + count(plain, Kind::Dropout), 0);
  const Graph full = expand_attention(
      attention(8, {{Attr::Causal, {1}}, {Attr::Mask, {1}}, {Attr::Dropout, {1}}}));
  EXPECT_EQ(count(full, Kind::Where), 1);
  EXPECT_EQ(count(full, Kind::Add), 1);
  EXPECT_EQ(count(full, Kind::Dropout), 1);
  EXPECT_EQ(count(full, Kind::Softmax), 1);
}

// A CPU's fused kernel takes masks, but neither dropout nor grouped heads.
TEST(ExpandAttention, OnACpuWhatHasNoKernel) {
  const auto kept = [](int kv, const Attributes& attributes) {
    return count(expand_attention_for_cpu(attention(kv, attributes)), Kind::Attention);
  };
  EXPECT_EQ(kept(8, {}), 1);
  EXPECT_EQ(kept(8, {{Attr::Causal, {1}}}), 1);
  EXPECT_EQ(kept(8, {{Attr::Dropout, {1}}}), 0);
  EXPECT_EQ(kept(2, {}), 0);
}

// A learned bias, as relative positions are, stays learned.
TEST(ExpandAttention, AddsAGivenBiasToTheScores) {
  Builder builder("m");
  const TensorId q = builder.input("q", {builder.batch(), 8, 5, 16});
  const TensorId bias = builder.parameter("bias", {8, 5, 5});
  builder.output(builder.add(Kind::Attention, {q, q, q, bias}));
  const Graph model = builder.finish();
  for (const Graph& graph : {model, expand_attention(model)}) {
    const Graph step = backward(graph);
    EXPECT_NO_THROW(verify(step));
    EXPECT_EQ(step.gradients.size(), 1U);
  }
}

// Embedding, two linear layers with a norm between and one after.
Graph layers() {
  Builder builder("m");
  const Dim batch = builder.batch();
  const TensorId ids = builder.input("ids", {batch, 3}, DType::I64);
  TensorId h = builder.add(Kind::Embedding, {ids, builder.parameter("table", {50, 8})});
  {
    const Scope scope(builder, "fc1");
    h = builder.add(Kind::Linear,
                    {h, builder.parameter("weight", {16, 8}), builder.parameter("bias", {16})});
  }
  h = builder.add(Kind::Dropout, {h});
  {
    const Scope scope(builder, "fc2");
    h = builder.add(Kind::Linear, {h, builder.parameter("weight", {4, 16})});
  }
  h = builder.add(Kind::LayerNorm, {h, builder.parameter("norm", {4})});
  builder.output(h);
  const TensorId target = builder.input("target", {batch, 3, 4});
  builder.loss(builder.add(Kind::PointwiseLoss, {h, target}));
  return builder.finish();
}

TEST(SetTrainable, AllChangesNothing) {
  EXPECT_EQ(trainable(set_trainable(layers(), parse_trainable("all"))), trainable(layers()));
}

TEST(SetTrainable, HeadIsTheLastProduct) {
  EXPECT_EQ(trainable(set_trainable(layers(), parse_trainable("head"))),
            std::vector<std::string>{"fc2.weight"});
}

TEST(SetTrainable, AHeadMayLookItsWeightsUp) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 8});
  const TensorId rows = builder.input("rows", {5}, DType::I64);
  const TensorId weight = builder.add(Kind::Embedding, {rows, builder.parameter("table", {50, 8})});
  builder.output(builder.add(Kind::Linear, {x, weight}));
  EXPECT_EQ(trainable(set_trainable(builder.finish(), parse_trainable("head"))),
            std::vector<std::string>{"table"});
}

// Beside fc1 (8 -> 16) and fc2 (16 -> 4) with rank 2: 2*8 + 16*2 + 2*16 + 4*2 = 88 values.
TEST(SetTrainable, LoraAddsTwoThinProductsBesideEveryLinearLayer) {
  const Graph lora = set_trainable(layers(), parse_trainable("lora:rank=2"));
  EXPECT_NO_THROW(verify(lora));
  EXPECT_EQ(trainable(lora), (std::vector<std::string>{"fc1.lora_A.weight", "fc1.lora_B.weight",
                                                       "fc2.lora_A.weight", "fc2.lora_B.weight"}));
  EXPECT_EQ(parameter_count(lora) - parameter_count(layers()), 88);
  EXPECT_EQ(count(lora, Kind::Linear), 6);
  const Graph step = backward(lora);
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(step.gradients.size(), 4U);
  EXPECT_EQ(step.tensor(step.outputs[0]).shape, layers().tensor(layers().outputs[0]).shape);
}

TEST(SetTrainable, RefusesWhatItDoesNotKnow) {
  for (const char* what : {"", "some", "lora", "lora:rank=", "lora:rank=0", "lora:rank=-1",
                           "lora:rank=1000000", "lora:rank=2x", "Head"}) {
    EXPECT_THROW(set_trainable(layers(), parse_trainable(what)), Error) << what;
  }
  Builder builder("m");
  builder.output(builder.add(Kind::Relu, {builder.input("x", {1})}));
  EXPECT_THROW(set_trainable(backward(layers()), parse_trainable("head")),
               Error);  // not a forward pass alone
  EXPECT_THROW(set_trainable(builder.finish(), parse_trainable("head")), Error);
}

TEST(ForInference, HasNoLossAndNoDropout) {
  const Graph inference = for_inference(layers());
  EXPECT_NO_THROW(verify(inference));
  EXPECT_FALSE(inference.loss);
  EXPECT_EQ(count(inference, Kind::PointwiseLoss), 0);
  EXPECT_EQ(count(inference, Kind::Dropout), 0);
  EXPECT_EQ(count(inference, Kind::Linear), 2);
  EXPECT_EQ(gemm_flops(inference), gemm_flops(layers()));
}

TEST(ForInference, UsesRunningStatistics) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8});
  builder.output(builder.add(Kind::BatchNorm, {x, builder.parameter("w", {4})}));
  const Graph inference = for_inference(builder.finish());
  EXPECT_EQ(inference.nodes[0].attributes.number(Attr::Frozen, 0), 1);
}

TEST(ForInference, DropsBranchesThatOnlyTheLossReads) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 4});
  builder.output(builder.add(Kind::Linear, {x, builder.parameter("w", {4, 4})}));
  const TensorId auxiliary = builder.add(Kind::Linear, {x, builder.parameter("v", {9, 4})});
  builder.loss(builder.add(Kind::Mean, {auxiliary}));
  EXPECT_EQ(for_inference(builder.finish()).nodes.size(), 1U);
}

TEST(ForInference, KeepsADropoutWhoseMaskIsRead) {
  Builder builder("m");
  const std::vector<TensorId> out =
      builder.add_all(Kind::Dropout, {builder.input("x", {builder.batch(), 4})});
  builder.output(builder.add(Kind::Mul, {out[0], out[1]}));
  const Graph inference = for_inference(builder.finish());
  EXPECT_NO_THROW(verify(inference));
  EXPECT_EQ(count(inference, Kind::Dropout), 1);
}

}  // namespace
}  // namespace foretrain::graph
