// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/scaling_tests.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::train {
namespace {

// Exactly Ernest's law, so Ernest makes no error and a tree, which cannot go on, does.
ScalingData made() {
  ScalingData data{.time = TimeOf::Epoch, .variables = {"samples", "workers"}};
  MeasuredWorkload workload{.name = "net"};
  for (const double samples : {1000, 2000, 4000, 8000, 16000, 32000}) {
    for (const double workers : {1, 2, 3, 4, 6, 8}) {
      workload.rows.push_back({{samples, workers}, 5 + 0.02 * samples / workers + workers});
    }
  }
  data.workloads = {workload};
  return data;
}

TEST(ScalingTests, AreOneForEachVariableAndOneTogether) {
  const ScalingFit options{.methods = {Method::Tree, Method::Ernest}, .threads = 1};
  const std::vector<ScalingTest> tests = test_scaling(made(), options);
  ASSERT_EQ(tests.size(), 6U);
  const ScalingTest& interpolation = tests[0];
  EXPECT_EQ(interpolation.variable, "samples");
  EXPECT_EQ(interpolation.test, 6U);  // of six values the third is left out
  EXPECT_EQ(interpolation.train, 30U);
  const ScalingTest& together = tests[5];
  EXPECT_EQ(together.kind, "extrapolation");
  EXPECT_EQ(together.variable, "together");
  EXPECT_EQ(together.test, 4U);    // two of six and two of six
  EXPECT_EQ(together.train, 16U);  // four by four
  for (const ScalingTest& one : tests) {
    EXPECT_EQ(one.chosen.setting.method, Method::Ernest) << one.kind << one.variable;
    EXPECT_LT(one.chosen.error, 1e-3);
    EXPECT_EQ(one.predicted_s.size(), one.test);
    EXPECT_GT(one.methods.back().error, 0.01);
  }
}

TEST(ScalingTests, ASummaryIsTheMeanOverWorkloads) {
  std::vector<ScalingTest> tests(2, {.kind = "interpolation", .variable = "batch"});
  tests[0].chosen.error = 0.1;
  tests[1].chosen.error = 0.3;
  for (ScalingTest& one : tests) one.methods = {one.chosen};
  const std::vector<ScalingSummary> summary = summarise(tests);
  ASSERT_EQ(summary.size(), 1U);
  EXPECT_EQ(summary[0].tests, 2U);
  EXPECT_DOUBLE_EQ(summary[0].chosen, 0.2);
  EXPECT_DOUBLE_EQ(summary[0].worst, 0.3);
  EXPECT_DOUBLE_EQ(summary[0].methods.at(0).second, 0.2);
}

}  // namespace
}  // namespace foretrain::train
