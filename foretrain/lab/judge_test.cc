// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/detail/judge.h"

#include <gtest/gtest.h>

namespace foretrain::lab {
namespace {

store::Run run_of(double step_s, double foreign_cores = 0) {
  store::Run run;
  run.configuration = "a";
  run.step_median_s = step_s;
  run.foreign_load = foreign_cores;
  return run;
}

// Others may use 0.1 cores, steps differ by 15 %; earlier runs took 1, 2 and 10 s: their median is
// 2 s, so that 1.7 to 2.3 s are no outliers.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    for (const double step_s : {1.0, 2.0, 10.0}) judge.learn(run_of(step_s));
  }
  store::Run judged(store::Run run, bool last = false, const std::string& failure = "") const {
    judge.judge(failure, last, run);
    return run;
  }
  Judge judge{0.1, 0.15};
};

TEST_F(JudgeTest, TellsOutliersByTheMedianOfTheOthers) {
  EXPECT_EQ(judged(run_of(1.71)).status, "ok");
  EXPECT_EQ(judged(run_of(2.29)).status, "ok");
  EXPECT_EQ(judged(run_of(1.69)).status, "outlier");
  EXPECT_EQ(judged(run_of(2.31)).status, "outlier");
  // 3 s are 1.5 times 2 s.
  EXPECT_EQ(judged(run_of(3)).message, "steps take 1.500000 times as long as in other repeats");
}

TEST_F(JudgeTest, KeepsTheLastAttemptAtAnOutlierAndSaysSo) {
  EXPECT_EQ(judged(run_of(3), true).status, "ok");
  EXPECT_NE(judged(run_of(3), true).message, "");
  EXPECT_EQ(judged(run_of(2), true).message, "");
}

TEST_F(JudgeTest, DoesNotCompareConfigurations) {
  store::Run other = run_of(50);
  other.configuration = "b";
  EXPECT_EQ(judged(other).status, "ok");
  judge.learn(other);
  EXPECT_EQ(judged(run_of(2)).status, "ok");
}

// At the limit a run counts, above it never, the last attempt neither.
TEST_F(JudgeTest, RefusesForeignLoad) {
  EXPECT_EQ(judged(run_of(2, 0.1)).status, "ok");
  EXPECT_EQ(judged(run_of(2, 0.11)).status, "foreign_load");
  EXPECT_EQ(judged(run_of(2, 0.11), true).status, "foreign_load");
  store::Run unknown = run_of(2);
  unknown.foreign_load.reset();
  EXPECT_EQ(judged(unknown).status, "ok");
}

TEST_F(JudgeTest, NamesAFailureFirst) {
  store::Run run = judged(run_of(3, 5), true, "a worker failed");
  EXPECT_EQ(run.status, "failed");
  EXPECT_EQ(run.message, "a worker failed");
  run.step_median_s.reset();
  EXPECT_EQ(judged(run).status, "foreign_load");
  run.foreign_load = 0;
  EXPECT_EQ(judged(run).status, "ok");  // nothing to compare
}

}  // namespace
}  // namespace foretrain::lab
