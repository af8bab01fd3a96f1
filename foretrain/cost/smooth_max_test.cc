// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/smooth_max.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::cost {
namespace {

TEST(SmoothMax, MatchesThePowersItTabulates) {
  for (const double exponent : {1.37, 1.5, 2.0, 2.12, 2.53}) {
    const SmoothMax smooth(exponent);
    for (double ratio = 0; ratio <= 1; ratio += 0.0137) {
      const double exact = std::pow(1 + std::pow(ratio, exponent), 1 / exponent);
      EXPECT_NEAR(smooth(ratio, 1) / exact, 1, 1e-4);
      EXPECT_EQ(smooth(ratio, 1), smooth(1, ratio));
    }
  }
}

// Exponent 2: the hypotenuse of 3 and 4 is 5.
TEST(SmoothMax, IsTheHypotenuseForExponentTwo) { EXPECT_NEAR(SmoothMax(2)(3, 4), 5, 1e-4); }

TEST(SmoothMax, NothingAddsNothing) {
  const SmoothMax smooth(2);
  EXPECT_EQ(smooth(0, 0), 0);
  EXPECT_EQ(smooth(7, 0), 7);
}

TEST(SmoothMax, GrowsWithBothArguments) {
  const SmoothMax smooth(1.37);
  double before = 0;
  for (double a = 0.01; a < 10; a *= 1.003) {
    const double now = smooth(a, 1);
    EXPECT_GE(now, before);
    before = now;
  }
}

}  // namespace
}  // namespace foretrain::cost
