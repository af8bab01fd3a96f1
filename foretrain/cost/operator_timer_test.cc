// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/operator_timer.h"

#include <gtest/gtest.h>

#include "foretrain/cost/test_device.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::cost {
namespace {

OperatorTimer timer_of_things_gone(Repetition repetition = Repetition::InStep) {
  const hw::Device device = round_device();
  const Framework framework{.name = "mine", .host_scale = 2};
  return {device, framework, Precision::Fp32, std::make_shared<const OperatorModel>(test_model()),
          repetition};
}

// 8.7e6 bytes read and written at 0.87 TB/s take 20 us, besides the launch.
TEST(OperatorTimer, OwnsWhatItComputesWith) {
  const OperatorTimer timer = timer_of_things_gone();
  const OperatorTimer copy = timer;
  EXPECT_EQ(copy.device().name, "round");
  const double launch = test_model().constants.launch.memory_bound;
  EXPECT_NEAR(copy.copy_time(8.7e6).count(), 20e-6 + launch, 1e-12);
  EXPECT_NEAR(copy.copy_host_time().count(), 2e-6 * test_model().constants.host.update, 1e-15);
}

// A large GEMM takes no less than 2 * 2048^3 operations at 10 TFLOP/s, and twice the eager
// host's time with a scale of 2.
TEST(OperatorTimer, TimesDeviceAndHost) {
  graph::Builder builder("product");
  const auto x = builder.input("x", {2048, 2048});
  builder.output(builder.add(graph::Kind::Linear, {x, builder.parameter("w", {2048, 2048})}));
  const graph::Graph model = builder.finish();
  const graph::Bound bound = graph::bind(model, {{"batch", 1}});
  const graph::NodeView view{bound, model.nodes.back()};
  const OperatorTimer timer = timer_of_things_gone();
  const OpTime time = timer.time(view, graph::work(view));
  EXPECT_GE(time.total.count(), 2 * 2048.0 * 2048 * 2048 / 10e12);
  EXPECT_EQ(time.kernels, 1);
  EXPECT_EQ(timer.launch_parts(view.node, time.kernels), 1);
  EXPECT_NEAR(timer.host_time(view).count(), 2e-6 * test_model().constants.host.linear, 1e-12);
}

Seconds time_of_scores(std::int64_t head) {
  graph::Builder builder("scores");
  const auto heads = builder.input("heads", {1, 8, 2048, head});
  builder.output(
      builder.add(graph::Kind::MatMul, {heads, heads}, {{graph::Attr::TransposeB, {1}}}));
  const graph::Graph model =
      graph::set_precision(builder.finish(), Precision::Fp16, graph::Casting::WholeModel);
  const graph::Bound bound = graph::bind(model, {{"batch", 1}});
  const Framework framework{.name = "mine", .copies_heads = false};
  const OperatorTimer timer(round_device(), framework, Precision::Fp16,
                            std::make_shared<const OperatorModel>(test_model()));
  const graph::NodeView view{bound, model.nodes.back()};
  return timer.time(view, graph::work(view)).total;
}

// Heads of 108 values are no multiple of 16 bytes, so they take at least 2 * 8 * 2048^2 * 108
// operations at the 10 TFLOP/s of fp32 in place of 100.
TEST(OperatorTimer, HeadsOffSixteenBytesMissTensorCores) {
  EXPECT_GE(time_of_scores(108).count(), 2 * 8.0 * 2048 * 2048 * 108 / 10e12);
  EXPECT_GT(time_of_scores(108), 3 * time_of_scores(112));
  EXPECT_LT(time_of_scores(104), time_of_scores(112));
}

}  // namespace
}  // namespace foretrain::cost
