// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/cost/families.h"
#include "foretrain/cost/test_device.h"
#include "foretrain/graph/builder.h"

namespace foretrain::cost {
namespace {

using graph::Kind;

OpTime linear_time(std::int64_t rows, const hw::Device& device) {
  graph::Builder builder("linear");
  const auto x = builder.input("x", {rows, 1000});
  builder.output(builder.add(Kind::Linear, {x, builder.parameter("w", {1000, 1000})}));
  const graph::Graph model = builder.finish();
  const graph::Bound bound = graph::bind(model, {{"batch", 1}});
  const Context context =
      context_for(device, framework_named("pytorch"), Precision::Fp32, test_model());
  const graph::NodeView view{bound, model.nodes.front()};
  return analytic_time(view, graph::work(view), context);
}

// 2e9 flops + 3e5 at 75 GFLOP/s = 26.671 ms, + 7 us.
TEST(Cpu, MatchesHandCalculation) {
  EXPECT_NEAR(linear_time(1000, test_cpu()).total.count(), 26.678e-3, 1e-6);
}

// A row: the weights' 4 MB at 0.9 * 10 GB/s bind, 4.008e6 / 9e9 = 445 us; a cache is 4 times
// faster.
TEST(Cpu, OneRowIsBoundByMemory) {
  hw::Device device = test_cpu();
  const double slow = linear_time(1, device).memory.count();
  EXPECT_NEAR(slow, 445.3e-6, 0.1e-6);
  device.l2_bytes = 64e6;
  EXPECT_NEAR(linear_time(1, device).memory.count(), slow / 4, 1e-9);
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
