// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/recording_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "foretrain/base/error.h"

namespace foretrain::profile {
namespace {

TEST(ClockSeconds, IsATimeOfADay) {
  EXPECT_EQ(clock_seconds("01:02:03.5", "x"), 3723.5);
  EXPECT_EQ(clock_seconds("12:00:01 AM", "x"), 1);
  EXPECT_EQ(clock_seconds("11:00:00PM", "x"), 82800);
  for (const char* wrong : {"nan:00:02", "00:nan:02", "00:00:nan", "inf:00:00", "24:00:00",
                            "00:60:00", "00:00:1e300", "-1:00:00", "00:00", ""}) {
    EXPECT_THROW(clock_seconds(wrong, "x"), Error) << wrong;
  }
}

TEST(DayClock, GoesOnOverMidnight) {
  DayClock clock;
  EXPECT_EQ(clock.next(86399), 86399);
  EXPECT_EQ(clock.next(1), 86401);
  EXPECT_EQ(clock.next(86399), 172799);
  EXPECT_EQ(clock.next(0), 172800);
}

TEST(CellAmount, IsNotNegativeAndNoAbsurdShare) {
  EXPECT_EQ(cell_amount(" 98 %", "gpu_util", 1, "x"), 98);
  EXPECT_EQ(cell_amount("400", "cpu_util", 1, "x"), 400);  // four cores where one is the allotment
  EXPECT_EQ(cell_amount("1e9", "net_tx", 1, "x"), 1e9);
  EXPECT_TRUE(std::isnan(cell_amount("[N/A]\r", "power", 1, "x")));
  EXPECT_THROW(cell_amount("-50", "gpu_util", 1, "x"), Error);
  EXPECT_THROW(cell_amount("-1", "net_tx", 1, "x"), Error);
  EXPECT_THROW(cell_amount("1e9", "gpu_util", 1, "x"), Error);
}

TEST(AddRow, KeepsTimeInOrderForEachDevice) {
  RecordingRows rows{.names = {"gpu_util"}};
  const std::size_t first = find_instance("0", "x", rows);
  const std::size_t second = find_instance("1", "x", rows);
  EXPECT_EQ(find_instance("0", "x", rows), first);
  const std::array<double, 1> values{7};
  add_row(first, 5, values, "x", rows);
  add_row(second, 4, values, "x", rows);
  EXPECT_THROW(add_row(first, 4, values, "x", rows), Error);
  EXPECT_EQ(rows.instances[first].rows, 1U);
  EXPECT_EQ(rows.values[0].size(), 2U);
}

TEST(FindInstance, BoundsHowManyAFileCanName) {
  RecordingRows rows;
  for (int i = 0; i < 256; ++i) find_instance(std::to_string(i), "x", rows);
  EXPECT_THROW(find_instance("256", "x", rows), Error);
  EXPECT_EQ(find_instance("255", "x", rows), 255U);
}

}  // namespace
}  // namespace foretrain::profile
