// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/test_device.h"
#include "foretrain/graph/builder.h"

namespace foretrain::cost {
namespace {

using graph::Kind;

OpTime linear_time(std::int64_t rows, const hw::Device& device, bool repeated = false) {
  graph::Builder builder("linear");
  const auto x = builder.input("x", {rows, 1000});
  builder.output(builder.add(Kind::Linear, {x, builder.parameter("w", {1000, 1000})}));
  const graph::Graph model = builder.finish();
  const graph::Bound bound = graph::bind(model, {{"batch", 1}});
  Context context = context_for(device, framework_named("pytorch"), Precision::Fp32, test_model());
  context.repeated = repeated;
  const graph::NodeView view{bound, model.nodes.front()};
  return analytic_time(view, graph::work(view), context);
}

// 2e9 flops at 95 GFLOP/s take 21.053 ms, 12 MB at half of 0.9 * 10 GB/s 2.667 ms, the call 4 us.
TEST(Cpu, MatchesHandCalculation) {
  EXPECT_NEAR(linear_time(1000, test_cpu()).total.count(), 23.7233e-3, 1e-6);
}

// A row: the weights' 4 MB bind, 4.008e6 / 4.5e9 = 890.7 us; a cache is 4 times faster, if nothing
// else used it meanwhile.
TEST(Cpu, OneRowIsBoundByMemory) {
  hw::Device device = test_cpu();
  const double slow = linear_time(1, device).memory.count();
  EXPECT_NEAR(slow, 890.7e-6, 0.1e-6);
  device.l2_bytes = 64e6;
  EXPECT_NEAR(linear_time(1, device, true).memory.count(), slow / 4, 1e-9);
  EXPECT_NEAR(linear_time(1, device).memory.count(), slow, 1e-9);
}

OpTime conv_time_of(std::int64_t batch, std::int64_t channels, std::int64_t window) {
  graph::Builder builder("conv");
  const auto x = builder.input("x", {batch, channels, 8, 8});
  const auto w = builder.parameter("w", {channels, channels, window, window});
  const std::int64_t padding = window / 2;
  builder.output(builder.add(Kind::Conv, {x, w}, {{graph::Attr::Padding, {padding, padding}}}));
  const graph::Graph model = builder.finish();
  const graph::Bound bound = graph::bind(model, {{"batch", 1}});
  const hw::Device device = test_cpu();
  const Context context =
      context_for(device, framework_named("pytorch"), Precision::Fp32, test_model());
  const graph::NodeView view{bound, model.nodes.front()};
  return analytic_time(view, graph::work(view), context);
}

// 4 channels cost as much arithmetic as 16: 2 * 16 * 16 * 9 * 64 flops an image, 2 images.
TEST(Cpu, FewChannelsCostAsManyAsAVectorHolds) {
  EXPECT_NEAR(conv_time_of(2, 4, 3).compute.count(), 2 * 2.0 * 16 * 16 * 9 * 64 / 100e9 + 50e-6,
              1e-9);
}

// An image of 4 channels has 1 KiB, filled up to 16 in oneDNN's buffers 4 KiB: with 6,200 images
// those of input and output are above 25 MB each and cost 0.25 ns per byte more, with 6,000 they
// are not.
TEST(Cpu, LargeBuffersGetNewPages) {
  const double expected = conv_time_of(6000, 4, 3).memory.count() * 6200 / 6000;
  EXPECT_NEAR(conv_time_of(6200, 4, 3).memory.count() - expected, 2 * 6200 * 4096 * 0.25e-9, 1e-6);
}

// A GEMM of 4 us for each image, 95 GFLOP/s; from 16 images on oneDNN's one call of 50 us.
TEST(Cpu, SmallWindowsAreProductsOfEachImage) {
  const double flops = 2.0 * 32 * 32 * 64;
  EXPECT_NEAR(conv_time_of(8, 32, 1).compute.count(), 8 * (flops / 95e9 + 4e-6), 1e-9);
  EXPECT_NEAR(conv_time_of(16, 32, 1).compute.count(), 16 * flops / 100e9 + 50e-6, 1e-9);
}

TEST(Cpu, MoreOfAnythingIsNeverSlower) {
  hw::Device device = test_cpu();
  const Seconds base = linear_time(64, device).total;
  device.fp32_flops_per_s *= 2;
  EXPECT_LE(linear_time(64, device).total, base);
  device.memory_bytes_per_s *= 2;
  EXPECT_LE(linear_time(64, device).total, base);
}

}  // namespace
}  // namespace foretrain::cost
