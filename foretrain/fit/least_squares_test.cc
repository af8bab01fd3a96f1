// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::fit {
namespace {

// Points of y = 3 x^0.5 and their distances from y = a x^b, in logarithms.
std::vector<double> from_curve(const std::vector<double>& at) {
  std::vector<double> residuals;
  for (const double x : {1.0, 2.0, 5.0, 9.0})
    residuals.push_back(std::log(at[0] * std::pow(x, at[1]) / (3 * std::sqrt(x))));
  return residuals;
}

TEST(LeastSquares, FindsTheCurveThatPointsLieOn) {
  const std::vector<double> found = least_squares({{1, 0.1, 10}, {1, 0.1, 10}}, 20, from_curve);
  EXPECT_NEAR(found[0], 3, 1e-3);
  EXPECT_NEAR(found[1], 0.5, 1e-3);
}

// With a = 2 the least squares of ln 1.5 = (b - 0.5) ln x over ln x = 0, .693, 1.609, 2.197:
//   b = 0.5 + .4055 * 4.4998 / (.4805 + 2.5903 + 4.8278) = 0.731
TEST(LeastSquares, FitsTheRestWhereABoundHolds) {
  const std::vector<double> found = least_squares({{1, 0.1, 2}, {1, 0.1, 10}}, 20, from_curve);
  EXPECT_NEAR(found[0], 2, 1e-9);
  EXPECT_NEAR(found[1], 0.731, 2e-3);
}

TEST(LeastSquares, StaysAtAStartThatIsBest) {
  const std::vector<double> found = least_squares({{3, 0.1, 10}, {0.5, 0.1, 10}}, 5, from_curve);
  EXPECT_NEAR(found[0], 3, 1e-12);
  EXPECT_NEAR(found[1], 0.5, 1e-12);
}

// The second variable changes nothing.
TEST(LeastSquares, LeavesWhatDoesNotMatter) {
  const std::vector<double> found = least_squares(
      {{1, 0.1, 10}, {7, 0.1, 10}}, 20,
      [](const std::vector<double>& at) { return std::vector<double>{std::log(at[0] / 2)}; });
  EXPECT_NEAR(found[0], 2, 1e-3);
  EXPECT_NEAR(found[1], 7, 1e-9);
}

TEST(LeastSquares, OfNothingIsNothing) {
  EXPECT_TRUE(least_squares({}, 3, [](const std::vector<double>&) {
                return std::vector<double>{1};
              }).empty());
}

}  // namespace
}  // namespace foretrain::fit
