// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/choose.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

Answer answer(std::string_view engine, double value, double low, double high, bool inside = true) {
  return {engine, {{"step_time_s", {value, low, high, 0.9}, inside, ""}}};
}

const Answer kWide = answer("operators", 1, 0.5, 2);       // high / low = 4
const Answer kNarrow = answer("inspector", 1.1, 1, 1.25);  // 1.25

TEST(Choose, TakesTheNarrowestInterval) {
  for (const auto& answers : {std::vector{kWide, kNarrow}, std::vector{kNarrow, kWide}}) {
    const std::vector<Chosen> chosen = choose(answers, "auto");
    ASSERT_EQ(chosen.size(), 1U);
    EXPECT_EQ(chosen[0].engine, "inspector");
    EXPECT_EQ(chosen[0].target.estimate.value, 1.1);
  }
}

TEST(Choose, LeavesEnginesOutOfTheirDomainAlone) {
  const Answer outside = answer("inspector", 1.1, 1, 1.25, false);
  EXPECT_EQ(choose({kWide, outside}, "auto")[0].engine, "operators");
}

TEST(Choose, FollowsTheRequest) {
  EXPECT_EQ(choose({kWide, kNarrow}, "operators")[0].engine, "operators");
  EXPECT_EQ(choose({kNarrow, answer("scaling", 2, 1, 4)}, "scaling")[0].engine, "scaling");
}

TEST(Choose, PrefersOperatorsWhereNothingIsCalibrated) {
  const Answer plain{"operators", {{"step_time_s", {1, {}, {}, {}}, true, ""}}};
  const Answer other{"embedding", {{"step_time_s", {2, {}, {}, {}}, true, ""}}};
  EXPECT_EQ(choose({other, plain}, "auto")[0].engine, "operators");
}

TEST(Choose, TakesEachNumberApart) {
  const Answer memory{"inspector", {{"memory_bytes.peak", {3, {}, {}, {}}, true, ""}}};
  const std::vector<Chosen> chosen = choose({kWide, memory}, "auto");
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].engine, "operators");
  EXPECT_EQ(chosen[1].engine, "inspector");
}

}  // namespace
}  // namespace foretrain
