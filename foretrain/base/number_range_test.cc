// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/number_range.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

TEST(NumberRange, HoldsItsEndsAndWhatIsBetween) {
  const auto check = number_range(0.5, 2);
  for (const char* text : {"0.5", "1", "2", "1e0"}) EXPECT_EQ(check(text), "") << text;
}

TEST(NumberRange, RefusesTheRest) {
  const auto check = number_range(0.5, 2);
  for (const char* text : {"0.4", "2.1", "nan", "-nan", "inf", "", "1x", "x"}) {
    EXPECT_NE(check(text).find("not a number from 0.5 to 2"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace foretrain
