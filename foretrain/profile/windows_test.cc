// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/windows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::profile {
namespace {

// Readings at 0, 1.5 and 3 s of a counter 0, 3, 3: 2 per second up to 1.5 s, then nothing.
TEST(Rates, KeepWhatTheCounterGrew) {
  const std::vector<double> result = rates({{0, 1.5, 3}, {0, 3, 3}}, Seconds{1}, 3);
  EXPECT_EQ(result, (std::vector<double>{2, 1, 0}));
}

TEST(Rates, AreUnknownWithoutReadingsAround) {
  const std::vector<double> result = rates({{0.5, 2}, {0, 3}}, Seconds{1}, 3);
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 2);
  EXPECT_TRUE(std::isnan(result[2]));
}

TEST(Levels, LastUntilTheNextReading) {
  const std::vector<double> result = levels({{1.5, 2.5}, {7, 8}}, Seconds{1}, 4);
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 7);
  EXPECT_EQ(result[2], 8);
  EXPECT_EQ(result[3], 8);
}

}  // namespace
}  // namespace foretrain::profile
