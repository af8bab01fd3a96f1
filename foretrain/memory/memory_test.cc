// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/memory.h"

#include <gtest/gtest.h>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::memory {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Casting;
using graph::Graph;
using graph::Kind;
using graph::Optimizer;
using graph::TensorId;

const Attributes kInplace{{Attr::Inplace, {1}}};

TensorId norm_conv(Builder& b, const std::string& name, TensorId x, std::int64_t out,
                   std::int64_t kernel) {
  const std::int64_t in = b.shape(x)[1].factor;
  const TensorId w = b.parameter(name + ".w", {out, in, kernel, kernel});
  const TensorId y = b.add(Kind::Conv, {x, w}, {{Attr::Padding, {kernel / 2}}});
  return b.add(Kind::BatchNorm,
               {y, b.parameter(name + ".g", {out}), b.parameter(name + ".b", {out}),
                b.buffer(name + ".m", {out}), b.buffer(name + ".v", {out})});
}

void end_with_loss(Builder& b, TensorId logits) {
  b.output(logits);
  b.loss(b.add(Kind::CrossEntropy, {logits, b.input("targets", {b.batch()}, DType::I64)}));
}

// Residual blocks as torchvision writes them: activations and sums in place.
Graph residual_network(int blocks) {
  Builder b("residual");
  TensorId x = b.input("images", {b.batch(), 3, 32, 32});
  x = b.add(Kind::Relu, {norm_conv(b, "stem", x, 32, 3)}, kInplace);
  for (int i = 0; i < blocks; ++i) {
    const std::string name = "block" + std::to_string(i);
    TensorId y = b.add(Kind::Relu, {norm_conv(b, name + ".1", x, 32, 3)}, kInplace);
    y = b.add(Kind::Add, {norm_conv(b, name + ".2", y, 32, 1), x}, kInplace);
    x = b.add(Kind::Relu, {y}, kInplace);
  }
  x = b.add(Kind::AdaptiveAvgPool, {x}, {{Attr::Sizes, {1}}});
  x = b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, -1}}});
  end_with_loss(b, b.add(Kind::Linear, {x, b.parameter("w", {10, 32}), b.parameter("b", {10})}));
  return b.finish();
}

// One large linear layer, so that parameters outweigh the rest.
Graph wide_layer() {
  Builder b("wide");
  const TensorId x = b.input("x", {b.batch(), 1024});
  end_with_loss(b, b.add(Kind::Linear, {x, b.parameter("w", {1024, 1024})}));
  return b.finish();
}

Use use_of(const Graph& step, std::int64_t batch, const Options& options = {}) {
  return step_memory(graph::bind(step, {{"batch", batch}}), options);
}

double reserved(const Use& use) { return use.allocated + use.fragmentation; }

constexpr double kP = 4 * 1024 * 1024;  // bytes of wide_layer's parameters

// Parameters, gradients and states, and what the update holds for a moment. Sources: PyTorch,
// torch/optim, measured with its dispatcher: Adam 5 P, momentum 3 P, RMSprop 4 P, Adagrad 5 P.
TEST(StepMemory, UpdatePeaksAsTheOptimizerNeeds) {
  for (const auto& [optimizer, held] :
       {std::pair{Optimizer::Sgd, 0.0}, std::pair{Optimizer::Momentum, 1.0},
        std::pair{Optimizer::Adam, 3.0}, std::pair{Optimizer::AdamW, 3.0},
        std::pair{Optimizer::RmsProp, 2.0}, std::pair{Optimizer::Adagrad, 3.0}}) {
    const Use use = use_of(graph::update(graph::backward(wide_layer()), optimizer), 1);
    EXPECT_EQ(use.parameters, kP);
    EXPECT_EQ(use.gradients, kP);
    EXPECT_EQ(use.optimizer, held * kP);
  }
}

TEST(StepMemory, AFlatBufferAddsTheGradientsOnceMore) {
  const Graph step = graph::update(graph::backward(wide_layer()), Optimizer::Sgd);
  const Use plain = use_of(step, 1);
  const Use with = use_of(step, 1, {.flat_buffers = {kP}});
  EXPECT_EQ(with.gradients, 2 * kP);
  EXPECT_EQ(with.allocated, plain.allocated + kP);
}

TEST(StepMemory, PartsAddUpExactly) {
  for (const Precision precision : {Precision::Fp32, Precision::Fp16}) {
    const Graph step = graph::update(
        graph::backward(graph::set_precision(residual_network(4), precision, Casting::Automatic)),
        Optimizer::Adam);
    for (const std::int64_t batch : {1, 7, 64, 1000}) {
      const Use use = use_of(step, batch);
      EXPECT_EQ(use.allocated,
                use.parameters + use.gradients + use.optimizer + use.activations + use.workspace);
      EXPECT_GE(use.fragmentation, 0);
      EXPECT_LT(use.fragmentation, use.allocated + 64e6);
    }
  }
}

// Everything has its own memory at the same times whatever the batch, so live bytes cannot fall.
TEST(StepMemory, AllocatedNeverFallsWhenTheBatchGrows) {
  for (const bool searches : {false, true}) {
    const Graph step = graph::update(graph::backward(residual_network(4)), Optimizer::Momentum);
    double before = 0;
    for (std::int64_t batch = 1; batch <= 128; ++batch) {
      const Use use = use_of(step, batch, {.search_workspace = searches});
      EXPECT_GE(use.allocated, before);
      before = use.allocated;
    }
  }
}

TEST(StepMemory, DeeperNetworksSaveMore) {
  double before = 0;
  for (int blocks = 1; blocks <= 8; ++blocks) {
    const Graph step = graph::update(graph::backward(residual_network(blocks)), Optimizer::Sgd);
    const Use use = use_of(step, 32, {.search_workspace = false});
    EXPECT_GT(use.allocated, before);
    before = use.allocated;
  }
}

TEST(StepMemory, ShortFormatsSaveMemoryWhereActivationsRule) {
  const Graph model = residual_network(4);
  const Options plain{.search_workspace = false};
  const auto allocated = [&](Precision precision) {
    return use_of(graph::backward(graph::set_precision(model, precision, Casting::Automatic)), 256,
                  plain)
        .allocated;
  };
  EXPECT_LT(allocated(Precision::Fp16), 0.6 * allocated(Precision::Fp32));
  EXPECT_EQ(allocated(Precision::Fp16), allocated(Precision::Bf16));
}

TEST(StepMemory, InferenceNeedsLessThanTraining) {
  const Graph model = residual_network(8);
  const Use inference = use_of(graph::for_inference(model), 64);
  const Use training = use_of(graph::update(graph::backward(model), Optimizer::Momentum), 64);
  EXPECT_EQ(inference.parameters, training.parameters);
  EXPECT_EQ(inference.gradients, 0);
  EXPECT_EQ(inference.optimizer, 0);
  EXPECT_LT(inference.activations, training.activations / 3);
}

TEST(StepMemory, WorkspaceCountsWhereItRaisesThePeak) {
  const Graph step = graph::backward(residual_network(1));
  const Use without = use_of(step, 64, {.search_workspace = false});
  const Use with = use_of(step, 64);
  EXPECT_EQ(without.workspace, 0);
  EXPECT_GT(with.workspace, 0);
  EXPECT_GT(with.allocated, without.allocated);
}

TEST(StepMemory, CpusDoNotFragment) {
  const Graph step = graph::update(graph::backward(residual_network(2)), Optimizer::Momentum);
  const Use cpu = use_of(step, 16, {.search_workspace = false, .caching_allocator = false});
  const Use gpu = use_of(step, 16, {.search_workspace = false});
  EXPECT_EQ(cpu.fragmentation, 0);
  EXPECT_LE(cpu.allocated, gpu.allocated);
  EXPECT_GT(reserved(gpu), gpu.allocated);
}

TEST(StepMemory, TheSameStepGivesTheSameNumbers) {
  const Graph step = graph::update(graph::backward(residual_network(4)), Optimizer::Adam);
  const Use first = use_of(step, 48);
  const Use second = use_of(step, 48);
  EXPECT_EQ(first.allocated, second.allocated);
  EXPECT_EQ(first.fragmentation, second.fragmentation);
}

TEST(StepMemory, AnEmptyGraphNeedsNothing) {
  const Use use = use_of(Graph{}, 1);
  EXPECT_EQ(use.allocated, 0);
  EXPECT_EQ(use.fragmentation, 0);
}

// 90 are needed beside 20 of workspace and 15 of fragmentation. 120 are left: the 5 that are over
// go from fragmentation. 100: 15 do, then 10 of the workspace. 91: with 2 % lost between
// blocks 91.8 are needed, so it does not run, and nothing is squeezed.
TEST(Squeeze, TakesFragmentationThenWorkspace) {
  const Use use{
      .activations = 90, .workspace = 20, .allocated = 110, .fragmentation = 15, .needed = 90};
  Use roomy = use;
  EXPECT_TRUE(squeeze(roomy, 120, 0.02));
  EXPECT_DOUBLE_EQ(roomy.fragmentation, 10);
  EXPECT_DOUBLE_EQ(roomy.workspace, 20);
  Use tight = use;
  EXPECT_TRUE(squeeze(tight, 100, 0.02));
  EXPECT_DOUBLE_EQ(tight.fragmentation, 0);
  EXPECT_DOUBLE_EQ(tight.workspace, 10);
  EXPECT_DOUBLE_EQ(tight.allocated, 100);
  Use full = use;
  EXPECT_FALSE(squeeze(full, 91, 0.02));
  EXPECT_DOUBLE_EQ(full.allocated, 110);
}

}  // namespace
}  // namespace foretrain::memory
