// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::scaling {
namespace {

// d = sqrt 5: (1 + 2.236068 + 5 / 3) exp(-2.236068) = 4.902735 x 0.1068780 = 0.5239941.
TEST(GaussianProcess, Matern) {
  EXPECT_EQ(matern52(0), 1);
  EXPECT_NEAR(matern52(1), 0.5239941, 1e-6);
  EXPECT_LT(matern52(3), matern52(2));
}

// At z = 0 it is the deviation times 1 / sqrt(2 pi) = 0.3989423; far below it is the difference,
// far above nothing.
TEST(GaussianProcess, ExpectedImprovement) {
  EXPECT_NEAR(expected_improvement({5, 2}, 5), 2 * 0.3989423, 1e-6);
  EXPECT_NEAR(expected_improvement({1, 0.1}, 5), 4, 1e-6);
  EXPECT_NEAR(expected_improvement({9, 0.1}, 5), 0, 1e-6);
  EXPECT_EQ(expected_improvement({4, 0}, 5), 1);
  EXPECT_NEAR(normal_share(0), 0.5, 1e-12);
  EXPECT_NEAR(normal_share(1.959964), 0.975, 1e-6);
}

TEST(GaussianProcess, BelievesWhatItSawAndDoubtsTheRest) {
  std::vector<std::vector<double>> points;
  std::vector<double> values;
  for (int i = 0; i <= 10; ++i) {
    if (i == 5) continue;
    points.push_back({i / 10.0});
    values.push_back(std::sin(i / 3.0));
  }
  const GaussianProcess process(points, values);
  EXPECT_NEAR(process.at(std::vector<double>{0.2}).mean, std::sin(2 / 3.0), 0.02);
  EXPECT_NEAR(process.at(std::vector<double>{0.5}).mean, std::sin(5 / 3.0), 0.03);
  EXPECT_LT(process.at(std::vector<double>{0.2}).deviation,
            process.at(std::vector<double>{3.0}).deviation);
  const GaussianProcess one({{0.5}}, {7});
  EXPECT_NEAR(one.at(std::vector<double>{0.5}).mean, 7, 1e-9);
}

// A dimension that does not matter gets a long scale: the belief hardly depends on it.
TEST(GaussianProcess, LearnsWhichDimensionMatters) {
  std::vector<std::vector<double>> points;
  std::vector<double> values;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 4; ++j) {
      points.push_back({i / 5.0, j / 3.0});
      values.push_back(std::cos(4 * i / 5.0));
    }
  }
  const GaussianProcess process(points, values);
  const double one = process.at(std::vector<double>{0.3, 0.1}).mean;
  EXPECT_NEAR(process.at(std::vector<double>{0.3, 0.9}).mean, one, 0.02);
  EXPECT_NEAR(one, std::cos(1.2), 0.05);
}

}  // namespace
}  // namespace foretrain::scaling
