// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/test_device.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;

struct Form {
  std::int64_t steps = 50;
  std::int64_t hidden = 512;
  std::int64_t layers = 1;
  std::int64_t directions = 1;
  std::int64_t gates = 4;
};

graph::Graph recurrent(const Form& form) {
  graph::Builder builder("recurrent");
  std::vector<graph::TensorId> inputs{
      builder.parameter("x", {form.steps, builder.batch(), form.hidden})};
  for (std::int64_t i = 0; i < form.layers * form.directions; ++i) {
    const std::int64_t below = i < form.directions ? form.hidden : form.hidden * form.directions;
    const std::string number = std::to_string(i);
    inputs.push_back(builder.parameter("w" + number, {form.gates * form.hidden, below}));
    inputs.push_back(builder.parameter("u" + number, {form.gates * form.hidden, form.hidden}));
  }
  builder.output(builder.add(Kind::Recurrent, inputs,
                             {{Attr::Hidden, {form.hidden}},
                              {Attr::Layers, {form.layers}},
                              {Attr::Directions, {form.directions}},
                              {Attr::Gates, {form.gates}}}));
  return graph::backward(builder.finish());
}

double time_of(const Form& form, std::int64_t batch, Kind kind = Kind::Recurrent) {
  const hw::Device device = v100();
  const Context context =
      context_for(device, framework_named("pytorch"), Precision::Fp32, test_model());
  const graph::Graph step = recurrent(form);
  const graph::Bound bound = graph::bind(step, {{"batch", batch}});
  for (const graph::Node& node : step.nodes) {
    if (node.kind == kind) return recurrent_time({bound, node}, context).total.count();
  }
  return 0;
}

// Every step waits 20 us and starts a GEMM that takes at least 4 us.
TEST(Recurrent, StepsFollowOneAnother) {
  EXPECT_GT(time_of({.steps = 50}, 1), 50 * 24e-6);
  EXPECT_NEAR(time_of({.steps = 200}, 4) / time_of({.steps = 100}, 4), 2, 0.05);
}

// Four layers one step behind each other take 53 steps, not 200.
TEST(Recurrent, LayersFormAWavefront) {
  EXPECT_LT(time_of({.layers = 4}, 4), 3 * time_of({}, 4));
  EXPECT_GT(time_of({.layers = 4, .directions = 2}, 4), 3.5 * time_of({.directions = 2}, 4));
}

TEST(Recurrent, FewerGatesAreFaster) {
  EXPECT_LT(time_of({.gates = 3}, 128), time_of({.gates = 4}, 128));
  EXPECT_LT(time_of({.gates = 1}, 128), time_of({.gates = 3}, 128));
}

TEST(Recurrent, BackwardTakesOneToThreeTimesForward) {
  const double forward = time_of({}, 64);
  const double backward = time_of({}, 64, Kind::RecurrentGrad);
  EXPECT_GT(backward, forward);
  EXPECT_LT(backward, 3 * forward);
}

TEST(Recurrent, GrowsWithTheBatch) {
  for (const Kind kind : {Kind::Recurrent, Kind::RecurrentGrad}) {
    double before = 0;
    for (std::int64_t batch = 1; batch < 200; batch += 3) {
      const double now = time_of({.steps = 10, .layers = 2}, batch, kind);
      EXPECT_GE(now, before);
      before = now;
    }
  }
}

}  // namespace
}  // namespace foretrain::cost
