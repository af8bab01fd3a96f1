// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/minimise.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::fit {
namespace {

// |ln x - ln 3| + |ln y - ln 0.5| is least at (3, 0.5).
double distance(const std::vector<double>& at) {
  return std::abs(std::log(at[0] / 3)) + std::abs(std::log(at[1] / 0.5));
}

TEST(Minimise, FindsTheLeastValueWithinTheBounds) {
  const std::vector<double> found = minimise({{1, 0.1, 10}, {1, 0.1, 10}}, 500, distance);
  EXPECT_NEAR(found[0], 3, 1e-3);
  EXPECT_NEAR(found[1], 0.5, 1e-3);
  const std::vector<double> bounded = minimise({{1, 0.1, 2}, {1, 0.1, 10}}, 500, distance);
  EXPECT_NEAR(bounded[0], 2, 1e-3);
}

TEST(Minimise, IsNeverWorseThanTheStart) {
  const std::vector<double> found = minimise({{3, 0.1, 10}, {0.5, 0.1, 10}}, 3, distance);
  EXPECT_EQ(distance(found), 0);
}

TEST(Minimise, OfNothingIsNothing) {
  EXPECT_TRUE(minimise({}, 10, [](const std::vector<double>&) { return 1.0; }).empty());
}

}  // namespace
}  // namespace foretrain::fit
