// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/boost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foretrain/base/error.h"

namespace foretrain::train {
namespace {

// Two features, of which one matters, and a step at 0.5.
BoostData step_data() {
  BoostData data;
  for (int i = 0; i < 100; ++i) {
    const double x = i / 100.0;
    data.features.push_back({x, static_cast<double>(i * 37 % 11)});
    data.targets.push_back(x < 0.5 ? 1 : 3);
    data.weights.push_back(1);
  }
  return data;
}

TEST(Boost, LearnsAStep) {
  const learn::Trees trees = boost(step_data(), {.rounds = 200, .columns = 1});
  EXPECT_TRUE(learn::is_sound(trees, 2));
  EXPECT_NEAR(learn::evaluate(trees, std::vector<double>{0.2, 3}), 1, 0.05);
  EXPECT_NEAR(learn::evaluate(trees, std::vector<double>{0.8, 3}), 3, 0.05);
}

TEST(Boost, TheSameSeedGivesTheSameTrees) {
  const auto grow = [](std::uint64_t seed) {
    std::vector<float> values;
    for (const learn::TreeNode& node : boost(step_data(), {.rounds = 20, .seed = seed}).nodes) {
      values.push_back(node.value);
    }
    return values;
  };
  EXPECT_EQ(grow(1), grow(1));
  EXPECT_NE(grow(1), grow(2));
}

// An example that weighs nothing is not learnt from.
TEST(Boost, WeighsItsExamples) {
  BoostData data = step_data();
  for (std::size_t i = 0; i < 100; ++i) {
    if (data.targets[i] == 3) data.weights[i] = 0;
  }
  const learn::Trees trees = boost(data, {.rounds = 50});
  EXPECT_NEAR(learn::evaluate(trees, std::vector<double>{0.8, 3}), 1, 0.01);
}

TEST(Boost, RefusesWhatCannotBeLearnt) {
  EXPECT_THROW(boost({}, {}), Error);
  BoostData data = step_data();
  data.targets[3] = std::nan("");
  EXPECT_THROW(boost(data, {}), Error);
}

}  // namespace
}  // namespace foretrain::train
