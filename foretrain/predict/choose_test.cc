// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/detail/choose.h"

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
    EXPECT_EQ(chosen[0].why, "narrowest interval of those whose domain holds the request");
  }
}

TEST(Choose, LeavesEnginesOutOfTheirDomainAlone) {
  const Answer outside = answer("inspector", 1.1, 1, 1.25, false);
  const Chosen chosen = choose({kWide, outside}, "auto")[0];
  EXPECT_EQ(chosen.engine, "operators");
  EXPECT_EQ(chosen.why, "no other engine's domain holds the request");
}

TEST(Choose, TakesOthersWhereOperatorsAreOutOfTheirs) {
  const Answer outside = answer("operators", 1, 0.9, 1.1, false);
  const Chosen chosen = choose({outside, kNarrow}, "auto")[0];
  EXPECT_EQ(chosen.engine, "inspector");
  EXPECT_EQ(chosen.why, "no other engine's domain holds the request");
}

TEST(Choose, PrefersOperatorsWhereNoDomainHoldsTheRequest) {
  const Chosen chosen = choose(
      {answer("inspector", 1.1, 1, 1.25, false), answer("operators", 1, 0.5, 2, false)}, "auto")[0];
  EXPECT_EQ(chosen.engine, "operators");
  EXPECT_EQ(chosen.why, "no engine's domain holds the request");
}

TEST(Choose, FollowsTheRequest) {
  EXPECT_EQ(choose({kWide, kNarrow}, "operators")[0].engine, "operators");
  const Chosen asked = choose({kNarrow, answer("scaling", 2, 1, 4)}, "scaling")[0];
  EXPECT_EQ(asked.engine, "scaling");
  EXPECT_EQ(asked.why, "asked for by engine=scaling");
}

TEST(Choose, FallsBackToOperatorsWhereTheEngineAskedForCannotTell) {
  const Chosen silent = choose({kNarrow, kWide}, "scaling")[0];
  EXPECT_EQ(silent.engine, "operators");
  EXPECT_EQ(silent.why, "scaling does not answer");
  const Chosen outside = choose({kWide, answer("scaling", 2, 1, 4, false)}, "scaling")[0];
  EXPECT_EQ(outside.engine, "operators");
  EXPECT_EQ(outside.why, "the domain of scaling does not hold the request");
}

TEST(Choose, SaysWhereThereIsNoChoice) {
  EXPECT_EQ(choose({kWide}, "auto")[0].why, kOnlyEngine);
  EXPECT_EQ(choose({kWide}, "operators")[0].why, "asked for by engine=operators");
}

TEST(Choose, PrefersOperatorsWhereNothingIsCalibrated) {
  const Answer plain{"operators", {{"step_time_s", {1, {}, {}, {}}, true, ""}}};
  const Answer other{"embedding", {{"step_time_s", {2, {}, {}, {}}, true, ""}}};
  const Chosen chosen = choose({other, plain}, "auto")[0];
  EXPECT_EQ(chosen.engine, "operators");
  EXPECT_EQ(chosen.why, "no engine has an interval");
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
