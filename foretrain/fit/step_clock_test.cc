// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/step_clock.h"

#include <gtest/gtest.h>

#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

evaluate::Case row(const std::string& model, const std::string& device, const std::string& more) {
  evaluate::Case one;
  one.model = model;
  one.device = device;
  one.measured = 0.1;
  one.request =
      R"({"model": ")" + model + R"(", "device": ")" + device + R"(", "batch": 12)" + more + "}";
  return one;
}

class StepClock : public ::testing::Test {
 protected:
  double predicted(const evaluate::Case& one) {
    return predict(parse_request(one.request, "request"), library_).step_time_s.value;
  }
  double timed(const evaluate::Case& one, const Machine& machine) {
    return step_time(*make_step_case(one, library_), *library_.operators, machine).count();
  }

  Library library_ = load_library();
};

// One bound by its host, one by its device, one by its power, one that waits for its call, one with
// a copy of its input.
TEST_F(StepClock, AgreesWithPredict) {
  for (const evaluate::Case& one :
       {row("shufflenet_v2_x0_5", "a100-sxm4-40gb", ""), row("vgg16", "titan-xp", ""),
        row("resnet50", "t4", R"(, "precision": "fp16")"),
        row("resnet18", "v100", R"(, "framework": "tensorflow", "optimizer": "adam")"),
        row("resnet18", "rtx-2080-ti",
            R"(, "optimizer": "none", "copy_rate": 2e9, "host_speed": 0.7)")}) {
    EXPECT_NEAR(timed(one, {}), predicted(one), 1e-9) << one.request;
  }
}

TEST_F(StepClock, FindsNodesThatAreAlike) {
  const auto one = make_step_case(row("resnet152", "t4", ""), library_);
  EXPECT_EQ(one->like.size(), one->step->graph.nodes.size());
  EXPECT_LT(3 * one->first.size(), one->like.size());  // most of its blocks repeat
}

// 12 x 3 x 224 x 224 values of 4 bytes and 12 labels of 8 at 2 GB/s; twice as fast takes half.
TEST_F(StepClock, ScalesTheCopy) {
  const evaluate::Case one = row("vgg16", "titan-xp", R"(, "copy_rate": 2e9)");
  const double copy = 12 * (3 * 224 * 224 * 4 + 8) / 2e9;
  EXPECT_NEAR(timed(one, {}) - timed(one, {1, 2}), copy / 2, 1e-9);
}

TEST_F(StepClock, IsFasterWithAFasterHost) {
  const evaluate::Case one = row("shufflenet_v2_x0_5", "a100-sxm4-40gb", "");
  EXPECT_LT(timed(one, {2, 1}), 0.7 * timed(one, {}));
}

}  // namespace
}  // namespace foretrain::fit
