// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/cost/test_device.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"

namespace foretrain::cost {
namespace {

using graph::Kind;

graph::Graph conv_step() {
  graph::Builder builder("conv");
  const auto x = builder.parameter("x", {8, 16, 8, 8});
  const auto y = builder.add(Kind::Conv, {x, builder.parameter("w", {16, 16, 1, 1})});
  builder.output(builder.add(Kind::Reshape, {y}, {{graph::Attr::Shape, {8, -1}}}));
  return graph::update(graph::backward(builder.finish()), graph::Optimizer::Sgd);
}

double host_us(const graph::Graph& step, Kind kind, const hw::Device& device,
               const std::string& framework = "pytorch") {
  const Context context =
      context_for(device, framework_named(framework), Precision::Fp32, test_model());
  const graph::Bound bound = graph::bind(step, {{"batch", 1}});
  for (const graph::Node& node : step.nodes) {
    if (node.kind == kind) return host_time({bound, node}, context).count() * 1e6;
  }
  return -1;
}

TEST(HostTime, IsWhatEagerStepsShow) {
  const graph::Graph step = conv_step();
  EXPECT_NEAR(host_us(step, Kind::Conv, v100()), 53, 1e-9);
  EXPECT_NEAR(host_us(step, Kind::ConvInputGrad, v100()), 57, 1e-9);
  EXPECT_NEAR(host_us(step, Kind::ConvWeightGrad, v100()), 57, 1e-9);
  EXPECT_NEAR(host_us(step, Kind::Reshape, v100()), 4, 1e-9);
}

// Two tensors, one list, one operator: 12 + 2 * 2 + 100 us. AdaptDL launches for each tensor the
// update's operator and nine of its statistics, and takes 35 us per tensor and 1 ms per step more;
// its hosts take half of all that.
TEST(HostTime, UpdatesCostPerLaunchAndTensor) {
  const graph::Graph step = conv_step();
  EXPECT_NEAR(host_us(step, Kind::Update, v100()), 116, 1e-9);
  EXPECT_NEAR(host_us(step, Kind::Update, v100(), "adaptdl"),
              0.5 * (2 * (10 * 12 + 2 + 35) + 100 + 1000), 1e-9);
}

// A cell of 20 operators of 18 us for each of 50 steps and two layers, 30 of 22 us in backward, of
// which TensorFlow's host takes half. cuDNN's layers are one call.
TEST(HostTime, LoopsCostPerCell) {
  graph::Builder builder("recurrent");
  std::vector<graph::TensorId> inputs{builder.parameter("x", {50, 4, 64})};
  for (const char* name : {"w0", "u0", "w1", "u1"}) {
    inputs.push_back(builder.parameter(name, {256, 64}));
  }
  builder.output(builder.add(Kind::Recurrent, inputs,
                             {{graph::Attr::Hidden, {64}},
                              {graph::Attr::Layers, {2}},
                              {graph::Attr::Directions, {1}},
                              {graph::Attr::Gates, {4}}}));
  const graph::Graph step = graph::backward(builder.finish());
  EXPECT_NEAR(host_us(step, Kind::Recurrent, v100(), "tensorflow"), 0.5 * 100 * 20 * 18, 1e-6);
  EXPECT_NEAR(host_us(step, Kind::RecurrentGrad, v100(), "tensorflow"), 0.5 * 100 * 30 * 22, 1e-6);
  EXPECT_NEAR(host_us(step, Kind::Recurrent, v100()), 150, 1e-9);
}

// AdaptDL's hooks: half of 20 us and five operators where a gradient is added to its parameter's,
// half of 22 us without.
TEST(HostTime, HooksComeWithGradients) {
  graph::Builder builder("linear");
  const auto x = builder.parameter("x", {8, 16});
  builder.output(builder.add(Kind::Linear, {x, builder.parameter("w", {16, 16})}));
  const graph::Graph step = graph::backward(builder.finish(), graph::GradientHandling::Accumulate);
  EXPECT_NEAR(host_us(step, Kind::Add, v100(), "pytorch-1"), 22, 1e-9);
  EXPECT_NEAR(host_us(step, Kind::Add, v100(), "adaptdl"), 0.5 * (22 + 20 + 5 * 12), 1e-9);
}

TEST(HostTime, ScalesWithTheFramework) {
  const graph::Graph step = conv_step();
  EXPECT_NEAR(host_us(step, Kind::Conv, v100(), "mxnet"), 0.5 * 53, 1e-9);
}

TEST(HostTime, ACpuIsItsOwnHost) { EXPECT_EQ(host_us(conv_step(), Kind::Conv, test_cpu()), 0); }

}  // namespace
}  // namespace foretrain::cost
