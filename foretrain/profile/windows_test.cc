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

// At most 1 per second: of the 3 that the clock shows at 4 s it ran from 1 s on. At 5 s it stands
// still, which no later reading contradicts.
TEST(CaughtUp, GivesTimeBackToReadingsThatCameTooEarly) {
  const Readings result = caught_up({{0, 1, 2, 3, 4, 5}, {0, 0, 0, 0, 3, 3}}, 1);
  EXPECT_EQ(result.value, (std::vector<double>{0, 0, 1, 2, 3, 3}));
}

// 19 s of CPU time in 1 s, as the clock of a pinned thread once showed: no window is above 1 any
// more, and what lies before the first reading is lost.
TEST(CaughtUp, LeavesNoWindowAboveTheMost) {
  const Readings result = caught_up({{0, 1, 2, 3}, {0, 0, 19, 19.5}}, 1);
  EXPECT_EQ(result.value, (std::vector<double>{17, 18, 19, 19.5}));
}

TEST(CaughtUp, LeavesACounterThatIsSlowEnoughAlone) {
  const Readings counter{{0, 1, 2}, {0, 0.5, 1.5}};
  EXPECT_EQ(caught_up(counter, 1).value, counter.value);
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
