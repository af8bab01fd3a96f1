// SPDX-License-Identifier: Apache-2.0
// The inspector from measured runs to a report, as a user goes.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

const std::string kData = "data/lab/resources";

// A job like those that were measured.
Outcome predict(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "predict", "resnet18-cifar",     "--device", "cpu:cores=1", "--batch", "4",     "--workers",
      "2",       "--workers-per-node", "1",        "--network",   "1gbps",   "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

// Fitted once: physics with an offset is fast to find.
class Inspector : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    file_ = std::make_unique<TemporaryFile>("inspector.json", "");
    fit_ = run_program(
        {"fit", "inspector", "--data", kData, "--method", "physics", "-o", file_->path()});
  }
  static void TearDownTestSuite() { file_.reset(); }

  static std::string text() { return read_text(file_->path()); }

  static inline std::unique_ptr<TemporaryFile> file_;
  static inline Outcome fit_;
};

TEST_F(Inspector, AFitSaysWhatItFoundAndWritesIt) {
  EXPECT_EQ(fit_.code, 0) << fit_.err;
  EXPECT_NE(fit_.out.find("worker.net_tx.burst_s"), std::string::npos) << fit_.out;
  EXPECT_NE(fit_.out.find("written: " + file_->path()), std::string::npos);
  const Json file = parse_json(text(), "file");
  EXPECT_EQ(file.at("format"), "foretrain-inspector");
  EXPECT_EQ(file.at("device"), "cpu");
  EXPECT_EQ(file.at("calibration").at("device"), "cpu");
}

TEST_F(Inspector, TheSameRunsGiveTheSameBytes) {
  const TemporaryFile again("inspector_again.json", "");
  run_program({"fit", "inspector", "--data", kData, "--method", "physics", "-o", again.path()});
  EXPECT_EQ(read_text(again.path()), text());
}

TEST_F(Inspector, AReportHasItsNumbersWithIntervals) {
  const Outcome outcome = predict({"--predictors", file_->path(), "--engine", "inspector"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json report = parse_json(outcome.out, "report");
  EXPECT_EQ(report.at("engines").at("resources").at("engine"), "inspector");
  EXPECT_EQ(report.at("engines").at("step_time_s").at("engine"), "inspector");
  EXPECT_EQ(report.at("engines").at("memory_bytes").at("engine"), "operators");
  const Json& device = report.at("resources").at("worker").at("gpu_util");
  EXPECT_EQ(device.at("pattern"), "BIB");
  const Json& intervals = device.at("intervals");
  EXPECT_EQ(intervals.at("confidence"), 0.9);
  for (const char* number : {"burst_amount", "idle_amount", "burst_s", "idle_s"}) {
    EXPECT_LE(intervals.at(number)[0], device.at(number)) << number;
    EXPECT_GE(intervals.at(number)[1], device.at(number)) << number;
  }
  EXPECT_LE(intervals.at("burst_amount")[1], 100);
  EXPECT_LE(report["step_time_s"]["low"], report["step_time_s"]["value"]);
}

// Nothing like a GPU was measured: the operator engine answers, and says so.
TEST_F(Inspector, AnotherDeviceIsLeftToTheOperators) {
  const Outcome outcome = run_program({"predict", "resnet18", "--device", "t4", "--json",
                                       "--predictors", file_->path(), "--engine", "inspector"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json report = parse_json(outcome.out, "report");
  EXPECT_EQ(report.at("engines").at("resources").at("engine"), "operators");
  EXPECT_FALSE(report.at("resources").at("worker").at("gpu_util").contains("intervals"));
}

TEST_F(Inspector, WithoutAFileItIsOneClearError) {
  const Outcome outcome = predict({"--engine", "inspector"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("foretrain fit inspector"), std::string::npos) << outcome.err;
}

TEST_F(Inspector, AFileOfOtherConstantsIsRefusedWithTheCommandThatRefitsIt) {
  Json changed = parse_json(text(), "file");
  changed["constants"] = "0000000000000000";
  const TemporaryFile other("inspector_other.json", json_text(changed));
  const Outcome foreign = predict({"--predictors", other.path()});
  EXPECT_EQ(foreign.code, 2);
  EXPECT_NE(foreign.err.find("foretrain fit inspector --data"), std::string::npos) << foreign.err;
  const Outcome beside =
      predict({"--predictors", file_->path() + ",data/predictors/operators_prior.json"});
  EXPECT_EQ(beside.code, 2);
  EXPECT_NE(beside.err.find("other constants"), std::string::npos) << beside.err;
}

TEST_F(Inspector, ADamagedFileIsRefused) {
  const TemporaryFile half("inspector_half.json", text().substr(0, text().size() / 2));
  const Outcome outcome = predict({"--predictors", half.path()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("inspector_half.json"), std::string::npos) << outcome.err;
}

TEST_F(Inspector, WhatItLearnsFromCanBeSeen) {
  const Outcome outcome = run_program({"fit", "inspector", "--data", kData, "--examples", "-"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("model,setting,split,role,"), std::string::npos);
  EXPECT_EQ(run_program({"fit", "inspector", "--data", kData}).code, 2);  // nothing to write
}

Outcome transfer(const std::string& file, const std::string& output,
                 const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"transfer",       file, "--data", kData, "--setting",
                                     "ddp2-core-100m", "-o", output};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

TEST_F(Inspector, ATransferDrawsWhatItIsAskedFor) {
  const TemporaryFile adapted("inspector_adapted.json", "");
  const Outcome some = transfer(file_->path(), adapted.path(), {"--jobs", "7"});
  ASSERT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.out.find("  7 architectures used\n"), std::string::npos) << some.out;
  EXPECT_NE(some.out.find(", 7 of "), std::string::npos) << some.out;
  const std::string first = read_text(adapted.path());
  transfer(file_->path(), adapted.path(), {"--jobs", "7"});
  EXPECT_EQ(read_text(adapted.path()), first);
  transfer(file_->path(), adapted.path(), {"--jobs", "7", "--seed", "2"});
  EXPECT_NE(read_text(adapted.path()), first);
}

TEST_F(Inspector, ATransferOfTooFewJobsIsOneClearError) {
  const TemporaryFile adapted("inspector_few.json", "");
  const Outcome few = transfer(file_->path(), adapted.path(), {"--jobs", "2"});
  EXPECT_EQ(few.code, 2);
  EXPECT_NE(few.err.find("fewer folds"), std::string::npos) << few.err;
  EXPECT_EQ(transfer(file_->path(), adapted.path(), {"--jobs", "2", "--folds", "2"}).code, 0);
  const Outcome both = transfer(file_->path(), adapted.path(), {"--jobs", "7", "--fraction", "1"});
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(transfer(file_->path(), adapted.path(), {"--fraction", "2"}).code, 2);
}

TEST_F(Inspector, MemoryUsedIsToldWithItsInterval) {
  const Outcome outcome = predict({"--predictors", file_->path(), "--engine", "inspector"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json report = parse_json(outcome.out, "report");
  const Json& used = report.at("resources").at("worker").at("memory_used");
  const bool burst = used.at("burst_amount").is_number();
  const char* number = burst ? "burst_amount" : "idle_amount";
  EXPECT_LE(used.at("intervals").at(number)[0], used.at(number));
  EXPECT_GE(used.at("intervals").at(number)[1], used.at(number));
}

TEST_F(Inspector, OneSettingAloneCanBeEvaluated) {
  const Outcome outcome = run_program({"evaluate", "--data", kData, "--resources", "--setting",
                                       "ddp2-core-100m", "--predictor", file_->path(), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json result = parse_json(outcome.out, "scores");
  for (const Json& score : result.at("resources")) EXPECT_EQ(score.at("setting"), "ddp2-core-100m");
  std::set<std::string> numbers;
  for (const Json& score : result.at("numbers")) numbers.insert(score.at("number"));
  EXPECT_TRUE(numbers.contains("worker.memory_used"));
  EXPECT_TRUE(numbers.contains("worker.net_tx.burst_per_step_s"));
  EXPECT_EQ(run_program({"evaluate", "--data", kData, "--setting", "ddp2-core-100m"}).code, 2);
}

TEST_F(Inspector, IsEvaluatedBesideTheNoiseOfTheRuns) {
  const Outcome outcome = run_program({"evaluate", "--data", kData, "--resources", "--engine",
                                       "inspector", "--predictor", file_->path(), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json scores = parse_json(outcome.out, "scores").at("resources");
  ASSERT_FALSE(scores.empty());
  bool covered = false;
  for (const Json& score : scores) {
    EXPECT_GE(score.at("mean"), 0);
    covered = covered || score.at("coverage").is_number();
  }
  EXPECT_TRUE(covered);
  EXPECT_EQ(run_program({"evaluate", "--data", kData, "--split", "test"}).code, 2);
}

}  // namespace
}  // namespace foretrain::cli
