// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/update.h"

#include <gtest/gtest.h>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/test_device.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"

namespace foretrain::cost {
namespace {

using graph::Kind;

// `tensors` parameters of 1000 values, each through its own ReLU.
graph::Graph step_of(int tensors, graph::Optimizer optimizer) {
  graph::Builder builder("many");
  for (int i = 0; i < tensors; ++i) {
    builder.output(builder.add(Kind::Relu, {builder.parameter("p" + std::to_string(i), {1000})}));
  }
  return graph::update(graph::backward(builder.finish()), optimizer);
}

OpTime time_of(int tensors, graph::Optimizer optimizer, const std::string& framework) {
  const graph::Graph step = step_of(tensors, optimizer);
  const graph::Bound bound = graph::bind(step, {{"batch", 1}});
  const hw::Device device = round_device();
  const Context context =
      context_for(device, framework_named(framework), Precision::Fp32, test_model());
  const graph::NodeView view{bound, step.nodes.back()};
  return update_time(view, graph::work(view), context);
}

// 72 tensors: 7 operators over two lists of 36 in foreach form, 7 per tensor in 1.x.
TEST(Update, ForeachNeedsFewLaunches) {
  EXPECT_EQ(time_of(72, graph::Optimizer::Adam, "pytorch").kernels, 14);
  EXPECT_EQ(time_of(72, graph::Optimizer::Adam, "pytorch-1").kernels, 504);
  EXPECT_EQ(time_of(72, graph::Optimizer::Adam, "megatron").kernels, 1);
}

// Adam: 19 values per parameter operator by operator, 7 in one kernel.
TEST(Update, AFusedKernelMovesEachValueOnce) {
  const double values = 72 * 1000 * 4 / 0.87e12;
  EXPECT_NEAR(time_of(72, graph::Optimizer::Adam, "pytorch").memory.count(), 19 * values, 1e-12);
  EXPECT_NEAR(time_of(72, graph::Optimizer::Adam, "megatron").memory.count(), 7 * values, 1e-12);
  EXPECT_NEAR(time_of(72, graph::Optimizer::Sgd, "pytorch").memory.count(), 3 * values, 1e-12);
}

// AdaptDL's statistics read and write 8 values per parameter in 9 operators per tensor, beside
// plain SGD's 3 in one.
TEST(Update, StatisticsOfGradientsComeFirst) {
  const OpTime time = time_of(72, graph::Optimizer::Sgd, "adaptdl");
  EXPECT_EQ(time.kernels, 720);
  EXPECT_NEAR(time.memory.count(), 11 * 72 * 1000 * 4 / 0.87e12, 1e-12);
}

}  // namespace
}  // namespace foretrain::cost
