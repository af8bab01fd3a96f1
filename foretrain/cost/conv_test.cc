// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/conv.h"

#include <gtest/gtest.h>

#include <algorithm>

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

Context context_of(const hw::Device& device, Precision precision = Precision::Fp32,
                   const std::string& framework = "pytorch") {
  return context_for(device, framework_named(framework), precision, test_model());
}

// 1280 pixels by 128 channels are 10 tiles of 128 x 128, one wave on 10 SMs; sums of 1000:
//   10 * 2 * 128^2 * (1000 + 6.2) / (1.056 * 0.988 * 10 TFLOP/s) = 31.60 us, + 1.3 us.
TEST(ConvVector, MatchesHandCalculation) {
  const hw::Device device = round_device();
  const Conv conv{.batch = 10,
                  .in_channels = 1000,
                  .out_channels = 128,
                  .out_height = 16,
                  .out_width = 8,
                  .inner = 1000};
  const OpTime time = conv_vector(conv, ConvAlgorithm::Fastest, context_of(device));
  EXPECT_NEAR(time.compute.count(), 31.60e-6, 0.01e-6);
  EXPECT_NEAR(time.total.count(), 32.90e-6, 0.01e-6);
}

// TF32 is allowed, not required: without rate on tensor cores the vector units take over.
TEST(ConvTime, Tf32IsNoSlowerThanFp32) {
  graph::Builder builder("conv");
  const auto x = builder.input("x", {builder.batch(), 64, 32, 32});
  builder.output(builder.add(Kind::Conv, {x, builder.parameter("w", {64, 64, 1, 1})}));
  const graph::Graph model = builder.finish();
  const graph::Bound bound = graph::bind(model, {{"batch", 32}});
  const graph::NodeView view{bound, model.nodes.front()};
  hw::Device device = round_device();
  device.tensor_tf32_flops_per_s = device.fp32_flops_per_s;
  const Seconds vector = conv_time(view, context_of(device)).total;
  EXPECT_EQ(conv_time(view, context_of(device, Precision::Tf32)).total, vector);
  device.tensor_tf32_flops_per_s = 100 * device.fp32_flops_per_s;
  device.memory_bytes_per_s *= 100;
  EXPECT_LT(conv_time(view, context_of(device, Precision::Tf32)).total,
            conv_time(view, context_of(device)).total);
}

// fp16: 1280 x 128 are 5 tiles of 256 x 128 on 10 SMs, half a wave that is split:
//   5 * 2 * 256 * 128 * (1000 + 11) / (0.85 * 100 TFLOP/s) = 3.897 us.
TEST(ConvTensor, MatchesHandCalculation) {
  const hw::Device device = round_device();
  const Conv conv{.batch = 10,
                  .in_channels = 1000,
                  .out_channels = 128,
                  .out_height = 16,
                  .out_width = 8,
                  .inner = 1000};
  const OpTime time = conv_tensor(conv, context_of(device, Precision::Fp16));
  EXPECT_NEAR(time.compute.count(), 3.897e-6, 0.002e-6);
}

Conv square(double batch, double channels, double size) {
  Conv conv{.batch = batch,
            .in_channels = channels,
            .out_channels = channels,
            .out_height = size,
            .out_width = size,
            .window = 9,
            .inner = 9 * channels};
  conv.io_bytes = 8 * batch * channels * size * size;
  conv.weight_bytes = 36 * channels * channels;
  return conv;
}

// F(4,3) multiplies 36 times for 16 outputs where the direct form needs 144: at most 4 times less.
TEST(ConvVector, WinogradHelpsUpToFourTimes) {
  const hw::Device device = v100();
  Conv conv = square(64, 256, 28);
  const Seconds direct = conv_vector(conv, ConvAlgorithm::Fastest, context_of(device)).total;
  conv.winograd = true;
  const Seconds transformed = conv_vector(conv, ConvAlgorithm::Fastest, context_of(device)).total;
  EXPECT_LT(transformed, 0.8 * direct);
  EXPECT_GT(4.3 * transformed, direct);
}

TEST(ConvTensor, ChannelsLastNeedsNoTransposes) {
  const hw::Device device = v100();
  const Conv conv = square(64, 256, 28);
  const OpTime eager = conv_tensor(conv, context_of(device, Precision::Fp16));
  const OpTime tuned = conv_tensor(conv, context_of(device, Precision::Fp16, "nvidia"));
  EXPECT_EQ(tuned.kernels, 1);
  EXPECT_EQ(eager.kernels, 3);
  EXPECT_LT(tuned.total, eager.total);
}

// 0.54 of the rate in place of 0.36, which is known of 16 bits alone.
TEST(ConvTensor, SixteenBitsGainWhereTensorCoresAreHalved) {
  hw::Device device = round_device();
  device.architecture = "ampere";
  device.fp32_cores_per_sm = 128;
  device.tensor_fp16_flops_per_s = 2 * device.fp32_flops_per_s;
  const Context context = context_of(device, Precision::Fp16);
  Conv conv = square(16, 128, 28);
  const Seconds wide = conv_weight_grad_tensor(conv, context).compute;
  conv.half_values = true;
  EXPECT_NEAR(wide / conv_weight_grad_tensor(conv, context).compute, 1.5, 1e-9);
}

// 8 bytes each for 1e6 values at 0.95 * 0.87 TB/s: 9.679 us. 10 TFLOP/s of 64 cores, two each, are
// 78.125e9 cycles of multiprocessors per second; 9e6 products of 0.13: 14.976 us, the weight
// gradient's of 0.7: 80.64 us.
TEST(ConvDepthwise, TakesCyclesForEachProduct) {
  const hw::Device device = round_device();
  const Conv conv{
      .batch = 10, .out_channels = 100, .out_height = 1000, .inner = 9, .io_bytes = 8e6};
  const OpTime forward = conv_depthwise(conv, false, context_of(device));
  EXPECT_NEAR(forward.memory.count(), 9.679e-6, 1e-9);
  EXPECT_NEAR(forward.compute.count(), 14.976e-6, 1e-9);
  EXPECT_NEAR(conv_depthwise(conv, true, context_of(device)).compute.count(), 80.64e-6, 1e-8);
}

// Windows of 5x5 and 7x7 take as long as 3x3; beyond these every product counts, 8 times as much.
TEST(ConvDepthwise, LargeWindowsHaveNoKernelOfTheirOwn) {
  const auto compute = [](double side) {
    const Conv conv{.batch = 10,
                    .out_channels = 100,
                    .out_height = 1000,
                    .window = side * side,
                    .inner = side * side};
    hw::Device device = round_device();
    device.architecture = "ada";
    device.fp32_cores_per_sm = 128;
    return conv_depthwise(conv, false, context_of(device)).compute.count();
  };
  EXPECT_NEAR(compute(5) / compute(3), 1, 1e-9);
  EXPECT_NEAR(compute(7) / compute(3), 1, 1e-9);
  EXPECT_NEAR(compute(9) / compute(3), 8 * 9, 1e-9);
}

// In NHWC groups of 16 channels have kernels of their own, groups of 64 have none: 0.9 against 0.2
// of the rate, 0.05 for the weight gradient. Without NHWC all run at the whole rate.
TEST(ConvTensor, WideGroupsAreSlowInChannelsLast) {
  hw::Device device = round_device();
  device.architecture = "ada";
  device.fp32_cores_per_sm = 128;
  device.tensor_fp16_flops_per_s = 20e12;
  Framework last = framework_named("pytorch-1");
  last.channels_last = true;
  const auto rate = [&](double width, bool weight_grad, const Framework& framework) {
    const Conv conv{.batch = 64,
                    .in_channels = 32 * width,
                    .out_channels = 32 * width,
                    .groups = 32,
                    .out_height = 56,
                    .out_width = 56,
                    .window = 9,
                    .inner = 9 * width};
    Conv plain = conv;
    plain.groups = 1;
    plain.in_channels = plain.out_channels = width;
    plain.batch = 32 * 64;
    const Context context = context_for(device, framework, Precision::Fp16, test_model());
    const auto time = [&](const Conv& c) {
      return weight_grad ? conv_weight_grad_tensor(c, context).compute
                         : conv_tensor(c, context).compute;
    };
    return time(plain) / time(conv);
  };
  EXPECT_NEAR(rate(16, false, last), 0.9, 0.02);
  EXPECT_NEAR(rate(64, false, last), 0.2, 0.01);
  EXPECT_NEAR(rate(64, true, last), 0.05, 0.01);
  EXPECT_NEAR(rate(16, true, last), 0.9, 0.02);   // 32 groups of 16 are four tiles of 128
  EXPECT_NEAR(rate(32, true, last), 0.05, 0.01);  // no kernel for groups of 32
  EXPECT_NEAR(rate(5, true, last), 0.05, 0.01);   // 160 channels are no whole tiles
  EXPECT_NEAR(rate(64, false, framework_named("pytorch-1")), 1, 0.01);
  Framework later = framework_named("pytorch-1.12");  // has kernels for all narrow groups
  later.channels_last = true;
  EXPECT_NEAR(rate(32, true, later), 0.9, 0.02);
  EXPECT_NEAR(rate(5, true, later), 0.9, 0.02);
  EXPECT_NEAR(rate(64, true, later), 0.05, 0.01);
  last.slow_groups = false;
  EXPECT_NEAR(rate(64, true, last), 0.9, 0.02);
}

// 0.2 TFLOP/s of 16 bits convert 0.25 * 0.2e12 = 50e9 values per second: two for each of 9e6
// products take 360 us. In fp32 nothing is converted.
TEST(ConvDepthwise, ConvertsShortValuesWhereTheyAreSlow) {
  hw::Device device = round_device();
  device.tensor_fp16_flops_per_s.reset();
  device.fp16_flops_per_s = 0.2e12;
  Conv conv{.batch = 10, .out_channels = 100, .out_height = 1000, .inner = 9, .io_bytes = 4e6};
  const Context context = context_of(device, Precision::Fp16);
  EXPECT_LT(conv_depthwise(conv, false, context).compute.count(), 20e-6);
  conv.half_values = true;
  EXPECT_NEAR(conv_depthwise(conv, false, context).compute.count(), 360e-6, 1e-9);
}

// 16 images of 32 x 32 are 1024 tiles; 256 x 256 channels are 16 blocks of 64 x 64:
//   72 * 1024 * 65536 / (0.914 * 0.65 * 0.988 * 10 TFLOP/s) = 823.2 us
// Transformed values: 36 * 4 * 1024 * 512 bytes = 75.5 MB, all of which leave a device without a
// cache; input and output are 33.55 MB, weights 2.36 MB, the bandwidth 0.95 * 0.87 TB/s:
//   (33.55 + 2.36 + 75.5) MB / W' + (33.55 + 75.5) MB / 1.06 W' = 134.8 + 124.5 = 259.3 us.
TEST(ConvWeightGrad, TransformsItsTensorsForWinograd) {
  const hw::Device device = round_device();
  Conv conv = square(16, 256, 32);
  conv.winograd = true;
  const OpTime time = conv_weight_grad_vector(conv, context_of(device));
  EXPECT_EQ(time.kernels, 4);
  EXPECT_NEAR(time.compute.count(), 823.2e-6, 0.5e-6);
  EXPECT_NEAR(time.memory.count(), 259.3e-6, 0.3e-6);
}

// y = conv(x, w), backwards as well; `x` is a parameter so that it has a gradient.
graph::Graph one_conv(const graph::Shape& x, const graph::Shape& w, const Attributes& attributes) {
  graph::Builder builder("conv");
  const auto input = builder.parameter("x", x);
  const auto weight = builder.parameter("w", w);
  builder.output(builder.add(Kind::Conv, {input, weight}, attributes));
  return graph::backward(builder.finish());
}

Seconds time_of(const graph::Graph& step, Kind kind, const Context& context) {
  const graph::Bound bound = graph::bind(step, {{"batch", 1}});
  for (const graph::Node& node : step.nodes) {
    if (node.kind == kind) return conv_time({bound, node}, context).total;
  }
  return Seconds{0};
}

// A transposed convolution is the input gradient of the plain one in the other direction.
TEST(ConvTime, TransposedIsTheOthersInputGradient) {
  const hw::Device device = v100();
  const Context context = context_of(device);
  const Attributes stride{{Attr::Stride, {2}}, {Attr::Padding, {1}}};
  const Attributes transposed{{Attr::Stride, {2}}, {Attr::Padding, {1}}, {Attr::Transposed, {1}}};
  const graph::Graph plain = one_conv({8, 64, 32, 32}, {128, 64, 4, 4}, stride);
  const graph::Graph turned = one_conv({8, 128, 16, 16}, {128, 64, 4, 4}, transposed);
  EXPECT_EQ(time_of(plain, Kind::ConvInputGrad, context), time_of(turned, Kind::Conv, context));
  EXPECT_EQ(time_of(plain, Kind::Conv, context), time_of(turned, Kind::ConvInputGrad, context));
  EXPECT_EQ(time_of(plain, Kind::ConvWeightGrad, context),
            time_of(turned, Kind::ConvWeightGrad, context));
}

// Matrix units of 1 GFLOP/s help nobody; those of 50 TFLOP/s do.
TEST(ConvTime, TakesAFasterFp32KernelWhereTf32IsAllowed) {
  hw::Device device = round_device();
  const graph::Graph step = one_conv({8, 256, 32, 32}, {256, 256, 5, 5}, {{Attr::Padding, {2}}});
  for (const Kind kind : {Kind::Conv, Kind::ConvInputGrad, Kind::ConvWeightGrad}) {
    device.tensor_tf32_flops_per_s = 50e12;
    const Seconds vector = time_of(step, kind, context_of(device));
    EXPECT_LT(time_of(step, kind, context_of(device, Precision::Tf32)), vector);
    device.tensor_tf32_flops_per_s = 1e9;
    EXPECT_EQ(time_of(step, kind, context_of(device, Precision::Tf32)), vector);
  }
}

// Each algorithm alone is at best as fast as the fastest, and one of them is.
TEST(ConvTime, KnowsTheAlgorithmsApart) {
  const hw::Device device = v100();
  Conv conv = square(64, 256, 28);
  conv.winograd = true;
  const auto total = [&](ConvAlgorithm algorithm) {
    return conv_vector(conv, algorithm, context_of(device)).total;
  };
  const Seconds implicit = total(ConvAlgorithm::Implicit);
  const Seconds fused = total(ConvAlgorithm::FusedWinograd);
  const Seconds unfused = total(ConvAlgorithm::UnfusedWinograd);
  EXPECT_EQ(total(ConvAlgorithm::Fastest), std::min({implicit, fused, unfused}));
  EXPECT_NE(implicit, fused);
  EXPECT_NE(fused, unfused);
}

TEST(ConvTime, OneAndThreeSpatialAxesWork) {
  const hw::Device device = v100();
  const Context context = context_of(device);
  const graph::Graph line = one_conv({8, 64, 1024}, {64, 64, 3}, {{Attr::Padding, {1}}});
  const graph::Graph space =
      one_conv({8, 16, 8, 16, 16}, {16, 16, 3, 3, 3}, {{Attr::Padding, {1}}});
  for (const Kind kind : {Kind::Conv, Kind::ConvInputGrad, Kind::ConvWeightGrad}) {
    EXPECT_GT(time_of(line, kind, context).count(), 1e-6);
    EXPECT_GT(time_of(space, kind, context).count(), 1e-6);
  }
}

// Groups of 4 channels fill little of a matrix unit's tile: 64 x 32 at least.
TEST(ConvTime, TakesVectorUnitsForGroupsWhereTheyAreFaster) {
  graph::Builder builder("conv");
  const auto x = builder.input("x", {builder.batch(), 128, 28, 28});
  builder.output(builder.add(Kind::Conv, {x, builder.parameter("w", {128, 4, 3, 3})},
                             {{Attr::Groups, {32}}, {Attr::Padding, {1}}}));
  const graph::Graph model =
      graph::set_precision(builder.finish(), Precision::Fp16, graph::Casting::WholeModel);
  const graph::Bound bound = graph::bind(model, {{"batch", 32}});
  const graph::NodeView view{bound, model.nodes.back()};
  hw::Device device = round_device();
  const Seconds before = conv_time(view, context_of(device, Precision::Fp16)).total;
  device.fp32_flops_per_s *= 10;
  device.tensor_fp16_flops_per_s = 1e9;
  EXPECT_LT(conv_time(view, context_of(device, Precision::Fp16)).total, before);
}

// 2 * 32 * 32^2 * 64 * 576 operations at 1.056 * 0.988 * 5 TFLOP/s take 463 us at least; Winograd
// or tensor cores would be faster.
TEST(ConvTime, Fp64KnowsNeitherWinogradNorMatrixUnits) {
  graph::Builder builder("conv");
  const auto x = builder.input("x", {builder.batch(), 64, 32, 32});
  builder.output(
      builder.add(Kind::Conv, {x, builder.parameter("w", {64, 64, 3, 3})}, {{Attr::Padding, {1}}}));
  const graph::Graph model =
      graph::set_precision(builder.finish(), Precision::Fp64, graph::Casting::WholeModel);
  const graph::Bound bound = graph::bind(model, {{"batch", 32}});
  const graph::NodeView view{bound, model.nodes.back()};
  hw::Device device = round_device();
  device.fp64_flops_per_s = 5e12;
  const Seconds vector = conv_time(view, context_of(device, Precision::Fp64)).total;
  EXPECT_GT(vector.count(), 463e-6);
  device.tensor_fp64_flops_per_s = 50e12;
  EXPECT_EQ(conv_time(view, context_of(device, Precision::Fp64)).total, vector);
}

// Two groups of 128 channels are 20 tiles, two waves: 20 * 2 * 128^2 * 1006.2 operations. Groups
// reach 0.415 of fp32's rate, above all that fp64 at 1/32 of it can: 2.0225 ms at 1.056 * 0.988 *
// 312.5 GFLOP/s.
TEST(ConvVector, SlowArithmeticHidesWhatGroupsCost) {
  hw::Device device = round_device();
  device.fp64_flops_per_s = 312.5e9;
  const Conv conv{.batch = 10,
                  .in_channels = 2000,
                  .out_channels = 256,
                  .groups = 2,
                  .out_height = 16,
                  .out_width = 8,
                  .inner = 1000};
  const Context context = context_of(device, Precision::Fp64);
  const OpTime time = conv_vector(conv, ConvAlgorithm::Fastest, context);
  EXPECT_NEAR(time.compute.count(), 2.0225e-3, 1e-6);
}

// A convolution of 1x1, its gradients, on 1280 pixels and 128 channels in `groups`.
OpTime gradient_time(Kind kind, const hw::Device& device, const std::string& framework,
                     int groups = 1) {
  graph::Builder builder("conv");
  const auto x = builder.parameter("x", {10, 128, 16, 8});
  const auto w = builder.parameter("w", {128, 128 / groups, 1, 1});
  builder.output(builder.add(Kind::Conv, {x, w}, {{Attr::Groups, {groups}}}));
  const graph::Graph step = graph::backward(builder.finish());
  const graph::Bound bound = graph::bind(step, {{"batch", 1}});
  for (const graph::Node& node : step.nodes) {
    if (node.kind == kind)
      return conv_time({bound, node}, context_of(device, Precision::Fp32, framework));
  }
  return {};
}

// 2 * 1280 * 128 * 128 / 1.056 operations at 0.403 * 0.6 * 0.45 * 10 TFLOP/s are 36.50 us. MIOpen
// has Winograd kernels for groups: two of 64 channels, tiles of 128 x 64 at 1.025, 2 * 2 * 1280 *
// 128 * 64 / 1.025 operations at twice 0.403 * 0.415 * 0.45 * 10 TFLOP/s take 27.19 us.
TEST(ConvTime, WeightGradientsAreSlowerOnRdna) {
  hw::Device device = round_device();
  device.vendor = "amd";
  device.architecture = "rdna2";
  device.tensor_fp16_flops_per_s.reset();
  device.tensor_bf16_flops_per_s.reset();
  device.tensor_tf32_flops_per_s.reset();
  EXPECT_NEAR(gradient_time(Kind::ConvWeightGrad, device, "pytorch").compute.count(), 36.50e-6,
              0.01e-6);
  EXPECT_NEAR(gradient_time(Kind::ConvWeightGrad, device, "pytorch", 2).compute.count(), 27.19e-6,
              0.01e-6);
}

// 16 images of 50 x 50 tiles need 36 * 4 B * (40000 * 512 + 256^2) = 2.96 GB, a single one of 4 x 4
// tiles 36 * 4 B * (16 * 512 + 256^2) = 10.6 MB: of these 64 MiB allow the second.
TEST(ConvVector, WorkspaceLimitsAlgorithms) {
  const hw::Device device = v100();
  const auto total = [&](const Conv& conv, const std::string& framework) {
    const Context context = context_of(device, Precision::Fp32, framework);
    return conv_vector(conv, ConvAlgorithm::Fastest, context).total;
  };
  Conv large = square(16, 256, 200);
  large.winograd = true;
  EXPECT_GT(total(large, "caffe2"), 1.2 * total(large, "pytorch"));
  Conv small = square(1, 256, 16);
  small.winograd = true;
  EXPECT_EQ(total(small, "caffe2"), total(small, "pytorch"));
}

}  // namespace
}  // namespace foretrain::cost
