// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/duration.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

TEST(Duration, HasTheUnitsThatPeopleWrite) {
  EXPECT_EQ(parse_duration("90", "x").count(), 90);
  EXPECT_EQ(parse_duration("90s", "x").count(), 90);
  EXPECT_EQ(parse_duration("15m", "x").count(), 900);
  EXPECT_EQ(parse_duration("15min", "x").count(), 900);
  EXPECT_EQ(parse_duration("1.5h", "x").count(), 5400);
  EXPECT_EQ(parse_duration("2d", "x").count(), 172800);
}

TEST(Duration, OfNothingElseIsRefused) {
  for (const char* text :
       {"", "h", "0", "-1h", "nan", "inf", "1e300", "12 h", "12hours", "1h30m"}) {
    EXPECT_THROW(parse_duration(text, "--deadline"), Error) << text;
  }
}

}  // namespace
}  // namespace foretrain
