// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

// x of [batch, 64] -> fc1 to 128 -> RMS norm -> fc2 to 128 -> head to 10 -> loss.
Graph model() {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 64});
  const TensorId target = builder.input("target", {builder.batch()}, DType::I64);
  const auto linear = [&](const char* name, TensorId in, std::int64_t out, std::int64_t width) {
    const Scope scope(builder, name);
    return builder.add(Kind::Linear, {in, builder.parameter("weight", {out, width})});
  };
  TensorId h = linear("fc1", x, 128, 64);
  h = builder.add(Kind::RmsNorm, {h, builder.parameter("norm", {128})});
  h = linear("head", linear("fc2", h, 128, 128), 10, 128);
  builder.output(h);
  builder.loss(builder.add(Kind::CrossEntropy, {h, target}));
  return builder.finish();
}

double bytes_of_roles(const Graph& graph, bool trainable) {
  const Bound bound = bind(graph, {{"batch", 2}});
  double bytes = 0;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const bool kept = tensor.role == Role::Parameter || tensor.role == Role::Buffer;
    if (kept && tensor.trainable == trainable) bytes += bound.bytes(static_cast<TensorId>(t));
  }
  return bytes;
}

double state_bytes(const Graph& graph) {
  const Bound bound = bind(graph, {{"batch", 2}});
  double bytes = 0;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].role == Role::OptimizerState) {
      bytes += bound.bytes(static_cast<TensorId>(t));
    }
  }
  return bytes;
}

int count(const Graph& graph, Kind kind, Phase phase = Phase::Forward) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [&](const Node& node) { return node.kind == kind && node.phase == phase; }));
}

Graph adapted(Weights weights, DType adapter = DType::F32) {
  const Graph lora = set_trainable(model(), parse_trainable("lora:rank=4,targets=fc1+fc2"));
  return store_weights(lora, {.weights = weights, .adapters = true, .adapter = adapter});
}

// 128*64 + 128 + 128*128 + 10*128 = 25984 values of 2 B.
TEST(StoreWeights, KeepsEverythingIn16Bits) {
  const Graph half = store_weights(model(), {});
  EXPECT_NO_THROW(verify(half));
  EXPECT_EQ(bytes_of_roles(half, true), 2 * 25984);
  EXPECT_EQ(parameter_count(half), 25984);
}

// Adapters of rank 4: 4 (64 + 128) + 4 (128 + 128) = 1792 values of 4 B, or 2 B.
TEST(StoreWeights, AdaptersHaveATypeOfTheirOwn) {
  EXPECT_EQ(bytes_of_roles(adapted(Weights::Bf16), true), 4 * 1792);
  EXPECT_EQ(bytes_of_roles(adapted(Weights::Bf16, DType::BF16), true), 2 * 1792);
  EXPECT_EQ(bytes_of_roles(adapted(Weights::Bf16), false), 2 * 25984);
}

// fc1: 8192 values in 4096 B, 128 scales of a byte and one of 4 B; fc2: 16384 values in 8192 B, 256
// scales of a byte and one of 4 B. Norm and head stay in 2 B: 2 (128 + 1280) = 2816.
TEST(StoreWeights, FourBitsHaveAScalePer64ValuesAndOneOfThosePer256) {
  const Graph nf4 = adapted(Weights::Nf4);
  EXPECT_NO_THROW(verify(nf4));
  EXPECT_EQ(bytes_of_roles(nf4, false), 4096 + 128 + 4 + 8192 + 256 + 4 + 2816);
}

// Without double quantisation: 24576 / 64 = 384 scales of 4 B instead of 384 B and 2 x 4 B.
TEST(StoreWeights, ScalesOfFourBitsMayStayInFullPrecision) {
  const Graph lora = set_trainable(model(), parse_trainable("lora:rank=4,targets=fc1+fc2"));
  const WeightStorage twice{.weights = Weights::Nf4, .adapters = true};
  WeightStorage once = twice;
  once.single_scales = true;
  EXPECT_EQ(bytes_of_roles(store_weights(lora, once), false) -
                bytes_of_roles(store_weights(lora, twice), false),
            384 * 4 - 384 - 2 * 4);
}

// Of two quantised layers: unpacked, cast to bytes, masked, shifted, cast again; what the products'
// gradients read is what forward had.
TEST(StoreWeights, OperatorsMayUnpackAndThenBackwardDoesNot) {
  const Graph lora = set_trainable(model(), parse_trainable("lora:rank=4,targets=fc1+fc2"));
  const Graph step = backward(store_weights(
      lora, {.weights = Weights::Nf4, .adapters = true, .elementary_dequantise = true}));
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(count(step, Kind::Dequantize), 2);
  EXPECT_EQ(count(step, Kind::Clip), 2);
  EXPECT_EQ(count(step, Kind::Dequantize, Phase::Backward), 0);
}

// Of each of two adapters the first factor reads a copy, cast to fp32 and back; both factors are
// cast: 2 (2 + 2) casts, and no product is in fp32.
TEST(StoreWeights, AutocastMultipliesAdaptersIn16Bits) {
  const Graph lora = set_trainable(model(), parse_trainable("lora:rank=4,targets=fc1+fc2"));
  const WeightStorage storage{
      .adapters = true, .elementary_norms = false, .half_loss = true, .autocast_adapters = true};
  const Graph half = store_weights(lora, storage);
  EXPECT_NO_THROW(verify(half));
  EXPECT_EQ(count(half, Kind::Cast), 8);
  for (const Node& node : half.nodes) {
    if (node.kind != Kind::Linear) continue;
    EXPECT_EQ(half.tensor(node.outputs[0]).type, DType::BF16);
  }
}

// fc1: 8192 B and 128 rows' scales of 4 B; fc2: 16384 B and 128.
TEST(StoreWeights, EightBitsHaveAScalePerRow) {
  EXPECT_EQ(bytes_of_roles(adapted(Weights::Int8), false), 8192 + 512 + 16384 + 512 + 2816);
}

// Forward dequantises both; backward only fc2's: nothing before fc1 needs a gradient.
TEST(StoreWeights, BackwardDequantisesAgain) {
  const Graph step = backward(adapted(Weights::Nf4));
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(count(step, Kind::Dequantize), 2);
  EXPECT_EQ(count(step, Kind::Dequantize, Phase::Backward), 1);
  for (const Node& node : step.nodes) {  // none of the forward values is kept
    if (node.phase != Phase::Backward) continue;
    for (const Node& before : step.nodes) {
      if (before.kind != Kind::Dequantize || before.phase != Phase::Forward) continue;
      EXPECT_EQ(std::count(node.inputs.begin(), node.inputs.end(), before.outputs[0]), 0);
    }
  }
}

// What fc2 read is kept with its quantised weight; in 16 bits only the adapter's fp32 copy is.
TEST(StoreWeights, BackwardKeepsWhatAQuantisedLayerRead) {
  for (const Weights weights : {Weights::Nf4, Weights::Bf16}) {
    const Graph step = backward(adapted(weights));
    const auto fc2 = std::find_if(step.nodes.begin(), step.nodes.end(), [](const Node& node) {
      return node.kind == Kind::Linear && node.scope == "fc2";
    });
    const bool kept = std::any_of(step.nodes.begin(), step.nodes.end(), [&](const Node& node) {
      return node.phase == Phase::Backward && !node.inputs.empty() &&
             node.inputs.back() == fc2->inputs[0];
    });
    EXPECT_EQ(kept, weights == Weights::Nf4);
  }
}

// Values in fp16 first, then a cast, each time; the head, too.
TEST(StoreWeights, FrameworksMayDequantiseInFp16AndTheHead) {
  const Graph lora = set_trainable(model(), parse_trainable("lora:rank=4,targets=fc1+fc2"));
  const Graph step = backward(store_weights(lora, {.weights = Weights::Nf4,
                                                   .adapters = true,
                                                   .adapter = DType::BF16,
                                                   .half_loss = true,
                                                   .quantised_head = true,
                                                   .dequantises_in_fp16 = true}));
  EXPECT_NO_THROW(verify(step));
  EXPECT_EQ(count(step, Kind::Dequantize), 3);
  EXPECT_EQ(count(step, Kind::Dequantize, Phase::Backward), 2);
  for (const Node& node : step.nodes) {
    if (node.kind != Kind::Dequantize) continue;
    EXPECT_EQ(step.tensor(node.outputs[0]).type, DType::F16);
  }
  for (const Node& node : step.nodes) {
    if (node.kind != Kind::CrossEntropy) continue;
    EXPECT_EQ(step.tensor(node.inputs[0]).type, DType::BF16);
    EXPECT_EQ(step.tensor(node.outputs[1]).type, DType::BF16);
  }
}

// The norm casts to fp32 and back; the loss and two adapters cast what they read, and each sum of
// base and adapter goes back to 16 bits.
TEST(StoreWeights, CastsAreThoseThatTheModelMakesItself) {
  EXPECT_EQ(count(store_weights(model(), {}), Kind::Cast), 3);
  EXPECT_EQ(count(adapted(Weights::Bf16), Kind::Cast), 3 + 4);
  EXPECT_EQ(count(adapted(Weights::Bf16, DType::BF16), Kind::Cast), 3);
  const Graph fused = store_weights(model(), {.elementary_norms = false});
  EXPECT_EQ(count(fused, Kind::Cast), 0);
  EXPECT_EQ(count(fused, Kind::RmsNorm), 1);
}

TEST(StoreWeights, GradientsHaveTheirParametersType) {
  for (const Graph& step :
       {backward(store_weights(model(), {})), backward(adapted(Weights::Nf4))}) {
    EXPECT_NO_THROW(verify(step));
    for (const auto& [parameter, gradient] : step.gradients) {
      EXPECT_EQ(step.tensor(parameter).type, step.tensor(gradient).type);
    }
  }
}

// AdamW's two states: in the parameters' type, 2 B; with fp32 states, 4 B.
TEST(Update, StatesFollowTheParametersWhereAsked) {
  const Graph step = backward(store_weights(model(), {}));
  EXPECT_EQ(state_bytes(update(step, Optimizer::AdamW, StateType::OfParameter)), 2 * 2 * 25984);
  EXPECT_EQ(state_bytes(update(step, Optimizer::AdamW)), 2 * 4 * 25984);
}

// fc1 and fc2, of 8192 and 16384 values: a byte each and 4 and 8 scales of 4 B; the norm's 128 and
// the head's 1280 are fewer than 4096: fp32.
TEST(Update, EightBitStatesHaveAScalePerBlock) {
  const Graph step = update(backward(model()), Optimizer::AdamW8bit);
  EXPECT_EQ(state_bytes(step), 2 * (8192 + 4 * 4 + 16384 + 8 * 4 + 4 * (128 + 1280)));
}

// Rows and columns: 128 + 64, 128 + 128, 10 + 128; the norm's 128 as they are.
TEST(Update, AdafactorKeepsSumsOfRowsAndColumns) {
  EXPECT_EQ(state_bytes(update(backward(model()), Optimizer::Adafactor)),
            4 * (192 + 256 + 138 + 128));
  EXPECT_EQ(state_bytes(update(backward(model()), Optimizer::Lion)), 4 * 25984);
}

TEST(Lora, TargetsAreLayersByTheEndOfTheirPath) {
  const auto adapters = [](const char* what) {
    return (parameter_count(set_trainable(model(), parse_trainable(what))) - 25984);
  };
  EXPECT_EQ(adapters("lora:rank=4,targets=fc1+fc2"), 1792);
  EXPECT_EQ(adapters("lora:rank=4,targets=blocks"), 1792);  // all but the head
  EXPECT_EQ(adapters("lora:rank=4"), 1792 + 4 * (128 + 10));
  EXPECT_THROW(adapters("lora:rank=4,targets=fc3"), Error);
  EXPECT_THROW(adapters("lora:rank=4,targets=attention"), Error);
  for (const char* what : {"lora:targets=fc1", "lora:rank=4,targets=", "lora:rank=4,dtype=int8",
                           "lora:rank=4,alpha=2", "lora:rank=4,"}) {
    EXPECT_THROW(parse_trainable(what), Error) << what;
  }
}

}  // namespace
}  // namespace foretrain::graph
