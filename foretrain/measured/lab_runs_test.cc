// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/lab_runs.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::measured {
namespace {

const std::vector<std::string> kColumns{"campaign", "configuration", "setting",       "status",
                                        "wall_s",   "step_median_s", "exposed_sync_s"};

std::vector<Measurement> map(const std::string& configuration, const std::string& status,
                             const std::string& wall, const std::string& step) {
  return map_run({&kColumns, {"lab", configuration, "base", status, wall, step, "0.02"}, 7},
                 "line 7");
}

constexpr const char* kRing =
    R"({"batch":4,"cores":1,"model":"mlp","network":"1gbps","optimizer":"momentum","strategy":{"kind":"ddp"},"workers":2})";

TEST(LabRuns, AreToldByTheirColumns) {
  EXPECT_TRUE(are_runs(kColumns));
  EXPECT_FALSE(are_runs({"campaign", "configuration"}));
}

TEST(LabRuns, AStepAndItsSynchronisationAreCompared) {
  const std::vector<Measurement> mapped = map(kRing, "ok", "", "0.1");
  ASSERT_EQ(mapped.size(), 2U);
  EXPECT_EQ(mapped[0].metric, "step_time, base");
  EXPECT_EQ(mapped[0].measured, 0.1);
  EXPECT_EQ(mapped[1].metric, "exposed_sync, base");
  EXPECT_EQ(mapped[1].measured, 0.02);
  const Json request = parse_json(*mapped[0].request, "request");
  EXPECT_EQ(request["device"], "cpu:cores=1");
  EXPECT_EQ(request["network"], "1gbps");
  EXPECT_EQ(request["workers_per_node"], 1);
}

TEST(LabRuns, EveryServerIsAHostOfItsOwn) {
  const Json request = parse_json(
      run_request(
          R"({"batch":4,"cores":0.5,"model":"mlp","optimizer":"sgd","strategy":{"kind":"ps","servers":2,"asynchronous":true},"workers":2})",
          "x"),
      "request");
  EXPECT_EQ(request["device"], "cpu:cores=0.5");
  EXPECT_EQ(request["network"], kUnshapedNetwork);
  EXPECT_EQ(request["strategy"]["server_placement"], (std::vector{0, 0, 1, 1}));
}

TEST(LabRuns, AWholeJobIsComparedByItsWallTime) {
  std::string whole = kRing;
  whole.insert(1, R"("samples":1000,"epochs":2,)");
  const std::vector<Measurement> mapped = map(whole, "ok", "31.5", "0.1");
  ASSERT_EQ(mapped.size(), 1U);
  EXPECT_EQ(mapped[0].metric, "wall time, base");
  EXPECT_EQ(mapped[0].measured, 31.5);
}

// The file begins with whole jobs of another setting, whose steps are those of a whole job.
TEST(LabRuns, CalibrateByStepsThoughWholeJobsComeFirst) {
  const std::vector<MeasuredStep> runs = calibration_runs("data/lab/fourth_machine", "", 5);
  ASSERT_EQ(runs.size(), 5U);
  for (const MeasuredStep& run : runs) EXPECT_GT(run.step_time_s, 0);
  EXPECT_THROW(calibration_runs("data/lab/fourth_machine", "ddp1-quota-1g", 5), Error);
}

// Those on Ray tell an epoch and the whole training in their details.
TEST(LabRuns, ATrainingIsComparedByItsEpochAndItsTime) {
  std::vector<std::string> columns = kColumns;
  columns.emplace_back("details");
  const auto mapped = map_run({&columns,
                               {"ray", kRing, "ray2", "ok", "", "0.4", "0.02",
                                R"({"epoch_s":3.5,"train_s":7,"startup_s":20})"},
                               7},
                              "runs");
  ASSERT_EQ(mapped.size(), 4U);
  EXPECT_EQ(mapped[0].metric, "step_time, ray2");
  EXPECT_EQ(mapped[2].metric, "epoch time, ray2");
  EXPECT_EQ(mapped[2].measured, 3.5);
  EXPECT_EQ(mapped[2].number, report_number_named("epoch_time_s"));
  EXPECT_EQ(mapped[3].metric, "training time, ray2");
  EXPECT_EQ(mapped[3].measured, 7);
  EXPECT_EQ(mapped[3].number, report_number_named("total_time_s"));
}

TEST(LabRuns, BadRunsAreCountedWithTheirReason) {
  const std::vector<Measurement> mapped = map(kRing, "failed", "", "");
  ASSERT_EQ(mapped.size(), 1U);
  EXPECT_FALSE(mapped[0].request);
  EXPECT_NE(mapped[0].reason.find("failed"), std::string::npos);
  EXPECT_THROW(map("{", "ok", "", "0.1"), Error);
  EXPECT_THROW(map(kRing, "ok", "", "nan"), Error);
}

}  // namespace
}  // namespace foretrain::measured
