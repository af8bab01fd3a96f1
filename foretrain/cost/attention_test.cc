// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/attention.h"

#include <gtest/gtest.h>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/test_device.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;

graph::Graph attention(std::int64_t heads, std::int64_t length, std::int64_t width, bool causal) {
  graph::Builder builder("attention");
  const graph::Shape shape{builder.batch(), heads, length, width};
  const auto q = builder.parameter("q", shape);
  const auto k = builder.parameter("k", shape);
  const auto v = builder.parameter("v", shape);
  builder.output(builder.add(Kind::Attention, {q, k, v}, {{Attr::Causal, {causal ? 1 : 0}}}));
  return graph::backward(
      graph::set_precision(builder.finish(), Precision::Fp16, graph::Casting::WholeModel));
}

OpTime time_of(const graph::Graph& step, Kind kind, const hw::Device& device,
               std::int64_t batch = 1, const std::string& framework = "pytorch") {
  const Context context =
      context_for(device, framework_named(framework), Precision::Fp16, test_model());
  const graph::Bound bound = graph::bind(step, {{"batch", batch}});
  for (const graph::Node& node : step.nodes) {
    const graph::NodeView view{bound, node};
    if (node.kind == kind) return attention_time(view, graph::work(view), context);
  }
  return {};
}

// 10 heads of 128 queries are one wave of 10 tiles; 1280 queries ten waves:
//   100 tiles * 4 * 128 * 1280 keys * 128 / (0.387 * 100 TFLOP/s) = 216.8 us.
TEST(Attention, MatchesHandCalculation) {
  const graph::Graph step = attention(10, 1280, 128, false);
  const OpTime time = time_of(step, Kind::Attention, round_device());
  EXPECT_NEAR(time.compute.count(), 216.8e-6, 0.1e-6);
}

// 10 in place of 4 flops, 350 keys more, 0.36 in place of 0.387.
TEST(Attention, BackwardIsFiveProducts) {
  const graph::Graph step = attention(10, 1280, 128, false);
  const double forward = time_of(step, Kind::Attention, round_device()).compute.count();
  const double backward = time_of(step, Kind::AttentionGrad, round_device()).compute.count();
  EXPECT_NEAR(backward / forward, 2.5 * (1630.0 / 1280) * (0.387 / 0.36), 1e-6);
}

// Beside GA100's 2048 flops per clock 2 / 3 of the products' time goes to the softmax (a share of
// 0.6). 2 * 128 * 100 / 25 = 1024 flops leave half of that, 0.75 of the peak, 512 a quarter, 0.857:
//   8.389 GFLOP / 75 TFLOP/s = 111.8 us.
TEST(Attention, SlowerTensorCoresWaitLessForTheSoftmax) {
  hw::Device device = round_device();
  device.architecture = "ada";
  device.memory_type = "gddr6";
  device.fp32_cores_per_sm = 128;
  device.fp32_flops_per_s = 25e12;
  const graph::Graph step = attention(10, 1280, 128, false);
  const double full = time_of(step, Kind::Attention, device).compute.count();
  EXPECT_NEAR(full, 111.8e-6, 0.1e-6);
  device.fp32_flops_per_s = 50e12;
  const double half_rate = time_of(step, Kind::Attention, device).compute.count();
  EXPECT_NEAR(full / half_rate, 0.857143 / 0.75, 1e-5);
  device.architecture = "blackwell";  // no other kernels on boards without HBM
  EXPECT_NEAR(time_of(step, Kind::Attention, device).compute.count(), half_rate, 1e-9);
}

TEST(Attention, CausalIsHalfTheWork) {
  const OpTime all = time_of(attention(10, 1280, 128, false), Kind::Attention, round_device());
  const OpTime half = time_of(attention(10, 1280, 128, true), Kind::Attention, round_device());
  EXPECT_NEAR(half.compute / all.compute, 0.5, 1e-9);
}

TEST(Attention, NarrowHeadsAreSlowerPerFlop) {
  const OpTime wide = time_of(attention(10, 1280, 128, false), Kind::Attention, round_device());
  const OpTime narrow = time_of(attention(20, 1280, 64, false), Kind::Attention, round_device());
  EXPECT_NEAR(narrow.compute / wide.compute, 1 / 0.9, 1e-9);
}

// Third generation: 0.67 s / (s + 600) against 0.387.
TEST(Attention, TheThirdGenerationNeedsLongSequences) {
  const graph::Graph step = attention(10, 1280, 128, false);
  const OpTime second = time_of(step, Kind::Attention, round_device());
  const OpTime third = time_of(step, Kind::Attention, round_device(), 1, "nemo");
  EXPECT_NEAR(second.compute / third.compute, 0.67 / 0.387 * 1280 / 1880, 1e-6);
}

TEST(Attention, GrowsWithTheBatch) {
  const graph::Graph step = attention(7, 100, 80, true);
  for (const Kind kind : {Kind::Attention, Kind::AttentionGrad}) {
    Seconds before{0};
    for (int batch = 1; batch < 100; ++batch) {
      const Seconds now = time_of(step, kind, v100(), batch).total;
      EXPECT_GE(now, before);
      before = now;
    }
  }
}

}  // namespace
}  // namespace foretrain::cost
