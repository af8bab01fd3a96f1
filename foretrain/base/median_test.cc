// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/median.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

TEST(Median, IsTheMiddleInAnyOrder) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({5, 3, 3, 8, 1}), 3);
}

TEST(Median, OfAnEvenCountIsBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({100, 1, 4, 2}), 3);
}

}  // namespace
}  // namespace foretrain
