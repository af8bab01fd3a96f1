// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/detail/metrics.h"

#include <gtest/gtest.h>

#include <vector>

namespace foretrain::evaluate {
namespace {

// |0.1| + |-0.2| + |0.4| + |-0.5| = 1.2, a mean of 0.3; signed -0.2, a mean of -0.05; the middle
// of 0.1, 0.2, 0.4, 0.5 is (0.2 + 0.4) / 2 = 0.3.
TEST(Metrics, MatchHandCalculation) {
  const std::vector<double> errors{0.1, -0.5, 0.4, -0.2};
  EXPECT_DOUBLE_EQ(mape(errors), 0.3);
  EXPECT_DOUBLE_EQ(median_ape(errors), 0.3);
  EXPECT_DOUBLE_EQ(bias(errors), -0.05);
}

TEST(Metrics, TakeTheMiddleOfAnOddNumber) {
  const std::vector<double> errors{-0.9, 0.1, 0.2};
  EXPECT_DOUBLE_EQ(median_ape(errors), 0.2);
}

TEST(Metrics, OfOneErrorAreThatError) {
  const std::vector<double> errors{-0.25};
  EXPECT_EQ(mape(errors), 0.25);
  EXPECT_EQ(median_ape(errors), 0.25);
  EXPECT_EQ(bias(errors), -0.25);
}

TEST(Metrics, OfNothingAreZero) {
  EXPECT_EQ(mape({}), 0);
  EXPECT_EQ(median_ape({}), 0);
  EXPECT_EQ(bias({}), 0);
}

// The mean absolute error is at least the absolute mean error.
TEST(Metrics, BoundTheBias) {
  const std::vector<double> errors{0.3, -0.1, 0.7, -0.9, 0.02};
  EXPECT_GE(mape(errors), bias(errors));
  EXPECT_GE(mape(errors), -bias(errors));
}

}  // namespace
}  // namespace foretrain::evaluate
