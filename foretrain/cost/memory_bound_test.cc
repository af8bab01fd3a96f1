// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/test_device.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Kind;
using graph::Phase;

graph::Graph one(Kind kind, const graph::Shape& shape, const Attributes& attributes = {},
                 Precision precision = Precision::Fp32) {
  graph::Builder builder("one");
  builder.output(builder.add(kind, {builder.parameter("x", shape)}, attributes));
  return graph::backward(
      graph::set_precision(builder.finish(), precision, graph::Casting::WholeModel));
}

// Passes over 4 bytes per element of a tensor of `count` values, launches not counted.
double passes(const graph::Graph& step, Phase phase, double count, const hw::Device& device,
              const std::string& framework = "pytorch") {
  const Context context =
      context_for(device, framework_named(framework), Precision::Fp32, test_model());
  const graph::Bound bound = graph::bind(step, {{"batch", 1}});
  double seconds = 0;
  for (const graph::Node& node : step.nodes) {
    const graph::NodeView view{bound, node};
    if (node.phase != phase || node.kind == Kind::Fill) continue;
    const OpTime time = memory_bound_time(view, graph::work(view), context);
    EXPECT_NEAR(time.total.count() - time.memory.count(), time.kernels * 4e-6, 1e-12);
    seconds += time.memory.count();
  }
  return seconds * context.memory_bytes_per_s / (4 * count);
}

hw::Device with_l2(double bytes) {
  hw::Device device = round_device();
  device.l2_bytes = bytes;
  return device;
}

TEST(MemoryBound, UnaryTakesTwoPassesAndThreeBack) {
  const graph::Graph step = one(Kind::Relu, {1000, 1000});
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, round_device()), 2, 1e-9);
  EXPECT_NEAR(passes(step, Phase::Backward, 1e6, round_device()), 3, 1e-9);
}

// 8 MB with a last cache of 8 MB: half from memory, half 3.8 or 6 times as fast. Others have no
// such term.
TEST(MemoryBound, GraphicsBoardsFindAPartInTheirLastCache) {
  const graph::Graph step = one(Kind::Relu, {1000, 1000});
  hw::Device device = with_l2(8e6);
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, device), 2, 1e-9);
  device.architecture = "rdna2";
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, device), 2 * (0.5 + 0.5 / 3.8), 1e-9);
  device.architecture = "ada";
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, device), 2, 1e-9);  // of HBM
  device.memory_type = "gddr6";
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, device), 2 * (0.5 + 0.5 / 6), 1e-9);
}

// ReLU's three and the three of adding to the parameter's gradient; AdaptDL's hook moves nine more.
TEST(MemoryBound, HooksReadWhatIsAddedToAParameter) {
  graph::Builder builder("hook");
  builder.output(builder.add(Kind::Relu, {builder.parameter("x", {1000, 1000})}));
  const graph::Graph step = graph::backward(builder.finish(), graph::GradientHandling::Accumulate);
  EXPECT_NEAR(passes(step, Phase::Backward, 1e6, round_device(), "pytorch-1"), 6, 1e-9);
  EXPECT_NEAR(passes(step, Phase::Backward, 1e6, round_device(), "adaptdl"), 15, 1e-9);
}

// Two metrics, each a log-softmax that reads and writes fp32 logits: four passes more than the
// loss.
TEST(MemoryBound, MetricsOfALossReadTheLogitsAgain) {
  graph::Builder builder("loss");
  const auto logits = builder.parameter("logits", {1000, 1000});
  builder.loss(
      builder.add(Kind::CrossEntropy, {logits, builder.input("targets", {1000}, DType::I64)}));
  const graph::Graph step = graph::backward(builder.finish());
  const auto forward = [&](const char* framework) {
    return passes(step, Phase::Forward, 1e6, round_device(), framework);
  };
  EXPECT_NEAR(forward("composer") - forward("pytorch"), 4, 1e-9);
}

TEST(MemoryBound, PowTakesSevenPassesBack) {
  EXPECT_NEAR(passes(one(Kind::Pow, {1000, 1000}), Phase::Backward, 1e6, round_device()), 7, 1e-9);
}

// Half a byte read and two written, 2.5 B, times five: 12.5 of 4 B are 3.125 passes. Into integers
// it is a shift: half a byte and four, once: 1.125.
TEST(MemoryBound, FourBitValuesAreSearchedForInATree) {
  const auto unpacked = [](DType type) {
    graph::Builder builder("unpacked");
    const graph::TensorId weight = builder.buffer("w", {1000, 1000}, DType::NF4);
    builder.output(builder.add(Kind::Dequantize, {weight},
                               {{Attr::Type, {graph::Dim(static_cast<std::int64_t>(type))}}}));
    return passes(builder.finish(), Phase::Forward, 1e6, round_device());
  };
  EXPECT_NEAR(unpacked(DType::F16), 3.125, 1e-9);
  EXPECT_NEAR(unpacked(DType::I32), 1.125, 1e-9);
}

// 1000 labels of 8 B are 0.002 passes. Eager: logits read, log-probabilities written; back 2.5
// times both. Compiled: logits read; back read again and their gradient written.
TEST(MemoryBound, CompiledLossKeepsNoLogProbabilities) {
  graph::Builder builder("loss");
  const graph::TensorId logits = builder.parameter("x", {1000, 1000});
  const graph::TensorId labels = builder.input("labels", {1000}, DType::I64);
  builder.loss(builder.add(Kind::CrossEntropy, {logits, labels}));
  const graph::Graph step = graph::backward(builder.finish());
  const auto moved = [&](Phase phase, const std::string& framework) {
    return passes(step, phase, 1e6, round_device(), framework);
  };
  EXPECT_NEAR(moved(Phase::Forward, "pytorch"), 2.002, 1e-5);
  EXPECT_NEAR(moved(Phase::Backward, "pytorch"), 2.5 * 2.002, 1e-5);
  EXPECT_NEAR(moved(Phase::Forward, "pytorch-compile"), 1.002, 1e-5);
  EXPECT_NEAR(moved(Phase::Backward, "pytorch-compile"), 2.002, 1e-5);
  EXPECT_NEAR(moved(Phase::Backward, "composer"), 2.5 * 2.002, 1e-5);
}

TEST(MemoryBound, DropoutMovesItsMaskInBytes) {
  const graph::Graph step = one(Kind::Dropout, {1000, 1000});
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, round_device()), 2.25, 1e-9);
  EXPECT_NEAR(passes(step, Phase::Backward, 1e6, round_device()), 2.25, 1e-9);
}

// Long rows are read once more unless the L2 holds them; a cache far larger misses nothing.
TEST(MemoryBound, SoftmaxReadsLongRowsAgain) {
  const Attributes last{{Attr::Axis, {-1}}};
  const graph::Graph narrow = one(Kind::Softmax, {1000, 1000}, last);
  const graph::Graph wide = one(Kind::Softmax, {1000, 2000}, last);
  EXPECT_NEAR(passes(narrow, Phase::Forward, 1e6, round_device()), 2, 1e-9);
  EXPECT_NEAR(passes(wide, Phase::Forward, 2e6, round_device()), 4, 1e-9);
  EXPECT_NEAR(passes(wide, Phase::Forward, 2e6, with_l2(1e9)), 2, 1e-3);
  EXPECT_NEAR(passes(narrow, Phase::Backward, 1e6, round_device()), 6, 1e-9);
  EXPECT_NEAR(passes(narrow, Phase::Backward, 1e6, round_device(), "megatron"), 3, 1e-9);
}

// u = 10 SMs * 8 rows * 4000 bytes = 0.4 L2 for 800 kB: half of the rows are missed.
TEST(MemoryBound, LayerNormMissesHalfWhereRowsFillTwoFifthsOfTheCache) {
  const graph::Graph step = one(Kind::LayerNorm, {100000, 1000});
  EXPECT_NEAR(passes(step, Phase::Forward, 1e8, with_l2(800e3)), 2.5, 1e-2);
  EXPECT_NEAR(passes(step, Phase::Forward, 1e8, with_l2(1e9)), 2, 1e-2);
  EXPECT_NEAR(passes(step, Phase::Backward, 1e8, with_l2(800e3)), 5, 1e-2);
}

// 100,000 rows on 10 multiprocessors at 1.15 us each: 11.5 ms more, forward and backward alike,
// however short the rows are.
TEST(MemoryBound, OldLayerNormsTakeATimePerRow) {
  for (const std::int64_t width : {64, 256}) {
    const graph::Graph step = one(Kind::LayerNorm, {100000, width});
    const double values = 100000.0 * static_cast<double>(width);
    for (const Phase phase : {Phase::Forward, Phase::Backward}) {
      const double more = passes(step, phase, values, with_l2(1e9), "pytorch-1.10") -
                          passes(step, phase, values, with_l2(1e9), "pytorch-1");
      const double bytes_per_s = 0.87 * round_device().memory_bytes_per_s;  // of HBM2e
      EXPECT_NEAR(more * 4 * values / bytes_per_s, 11.5e-3, 1e-6);
    }
  }
}

// One row of 100 x 1000 values in each of 1,000 samples: 0.115 ms.
TEST(MemoryBound, RowsOfALayerNormMaySpanAxes) {
  const graph::Graph step = one(Kind::LayerNorm, {1000, 100, 1000}, {{Attr::Axes, {2}}});
  const double more = passes(step, Phase::Forward, 1e8, with_l2(1e9), "pytorch-1.10") -
                      passes(step, Phase::Forward, 1e8, with_l2(1e9), "pytorch-1");
  EXPECT_NEAR(more * 4e8 / (0.87 * round_device().memory_bytes_per_s), 0.115e-3, 1e-8);
}

TEST(MemoryBound, ComposedOperatorsMoveMore) {
  const graph::Graph step = one(Kind::Gelu, {1000, 1000});
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, round_device(), "tensorflow"), 18, 1e-9);
  EXPECT_NEAR(passes(step, Phase::Backward, 1e6, round_device(), "tensorflow"), 25, 1e-9);
}

// 1.35 (in + 3 out): 4 windows of 2 x 2, so out = in / 4.
TEST(MemoryBound, MaxPoolWritesIndices) {
  const graph::Graph step =
      one(Kind::MaxPool, {10, 10, 100, 100}, {{Attr::Kernel, {2}}, {Attr::Stride, {2}}});
  EXPECT_NEAR(passes(step, Phase::Forward, 1e6, round_device()), 1.35 * 1.75, 1e-9);
  EXPECT_NEAR(passes(step, Phase::Backward, 1e6, round_device()), 1.35 * 2.75, 1e-9);
}

// Memory time of the batch norm (forward) or its gradient over 100 x 1000 values in each channel.
double norm_s(std::int64_t channels, Phase phase, Precision precision,
              const std::string& framework = "pytorch-1-half",
              const hw::Device& device = round_device()) {
  graph::Builder builder("norm");
  const auto x = builder.parameter("x", {100, channels, 1000});
  const auto weight = builder.parameter("weight", {channels});
  builder.output(builder.add(Kind::BatchNorm, {x, weight, builder.parameter("bias", {channels})}));
  const graph::Graph step = graph::backward(
      graph::set_precision(builder.finish(), precision, graph::Casting::WholeModel));
  const graph::Bound bound = graph::bind(step, {{"batch", 1}});
  const Context context = context_for(device, framework_named(framework), precision, test_model());
  for (const graph::Node& node : step.nodes) {
    const graph::NodeView view{bound, node};
    const bool norm = node.kind == Kind::BatchNorm || node.kind == Kind::NormGrad;
    if (norm && node.phase == phase)
      return memory_bound_time(view, graph::work(view), context).memory.count();
  }
  return 0;
}

// One block for each channel: 1e5 values of 0.5 and 0.8 ns, of PyTorch's own kernels 2.4 and 1.6.
// 80 channels wait for 40 blocks, 4 on each of 10 multiprocessors.
TEST(MemoryBound, BatchNormsRunOneBlockPerChannel) {
  EXPECT_NEAR(norm_s(8, Phase::Forward, Precision::Fp32), 50e-6, 1e-9);
  EXPECT_NEAR(norm_s(8, Phase::Backward, Precision::Fp32), 80e-6, 1e-9);
  EXPECT_NEAR(norm_s(8, Phase::Forward, Precision::Fp16), 240e-6, 1e-9);
  EXPECT_NEAR(norm_s(8, Phase::Backward, Precision::Fp16), 160e-6, 1e-9);
  EXPECT_NEAR(norm_s(80, Phase::Forward, Precision::Fp16), 480e-6, 1e-9);
}

// Channels last: 8e5 values of 2 bytes, read twice and written, at 0.87 TB/s: 5.517 us.
TEST(MemoryBound, BatchNormsThatAreStoredChannelsLastStream) {
  EXPECT_NEAR(norm_s(8, Phase::Forward, Precision::Fp16, "nvidia"), 5.517e-6, 0.001e-6);
}

// 0.2 TFLOP/s of 16 bits convert 50e9 values per second: 2 passes over 1e6 values take 40 us.
TEST(MemoryBound, ShortValuesAreConvertedWhereTheyAreSlow) {
  hw::Device device = round_device();
  device.tensor_fp16_flops_per_s.reset();
  device.fp16_flops_per_s = 0.2e12;
  const graph::Graph step = one(Kind::Relu, {1000, 1000}, {}, Precision::Fp16);
  const double faster = passes(step, Phase::Forward, 1e6, round_device());
  EXPECT_NEAR(faster, 1, 1e-9);  // of 4 bytes
  const double slow = passes(step, Phase::Forward, 1e6, device) * 4e6 / 0.87e12;
  EXPECT_NEAR(slow, 40e-6, 1e-9);
}

TEST(MemoryBound, EmbeddingGradientsSortManyIndices) {
  const auto time = [](std::int64_t indices) {
    graph::Builder builder("embedding");
    const auto table = builder.parameter("table", {1000, 64});
    const auto tokens = builder.input("tokens", {indices}, DType::I64);
    builder.output(builder.add(Kind::Embedding, {tokens, table}));
    const graph::Graph step = graph::backward(builder.finish());
    const graph::Bound bound = graph::bind(step, {{"batch", 1}});
    const hw::Device device = round_device();
    const Context context =
        context_for(device, framework_named("pytorch"), Precision::Fp32, test_model());
    const graph::NodeView view{bound, step.nodes.back()};
    return memory_bound_time(view, graph::work(view), context);
  };
  EXPECT_EQ(time(768).kernels, 2);
  EXPECT_EQ(time(769).kernels, 12);
  EXPECT_GT(time(769).total, time(768).total);
}

}  // namespace
}  // namespace foretrain::cost
