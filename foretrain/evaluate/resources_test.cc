// SPDX-License-Identifier: Apache-2.0
// Every measurement here is invented.
#include "foretrain/evaluate/resources.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/predict/predict.h"

namespace foretrain::evaluate {
namespace {

const std::string kRequest =
    R"({"model": "resnet18-cifar", "device": "cpu:cores=1", "batch": 4, "workers": 2,)"
    R"( "workers_per_node": 1, "network": "1gbps"})";

// What is predicted of the worker's device.
struct Use {
  double amount = 0;
  double burst_s = 0;
  double idle_s = 0;
};

Use predicted(const Library& library) {
  const Report report = predict(parse_request(kRequest, "test"), library);
  const resource::Bursts& bursts = report.resources.worker.gpu_util->bursts;
  EXPECT_EQ(bursts.pattern, resource::Pattern::BIB);
  return {bursts.burst_amount.value(), bursts.burst.value().count(), bursts.idle.value().count()};
}

std::string quoted(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return "\"" + text + "\"";
}

std::string text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

// Runs of the one job, each with what its device did; a run without bursts where there is none.
measured::TestFolder& write(measured::TestFolder& folder, const std::vector<Use>& runs,
                            const std::string& resource = "gpu_util") {
  std::string table = "id,configuration,setting,split,status,wall_s,step_median_s,request\n";
  std::string metrics =
      "run,role,instance,resource,pattern,burst_amount,idle_amount,burst_s,idle_s,burst_share\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string id = std::to_string(i + 1);
    table += id + R"(,"{""model"":""resnet18-cifar""}",base,test,ok,,1,)" + quoted(kRequest) + "\n";
    metrics += id + ",worker,0," + resource + ",BIB," + text(runs[i].amount) + ",," +
               text(runs[i].burst_s) + "," + text(runs[i].idle_s) + ",0\n";
  }
  folder.write("runs.csv", table);
  folder.write("metrics.csv", metrics);
  return folder;
}

class EvaluateResources : public testing::Test {
 protected:
  const Library library_ = load_library();
  measured::TestFolder folder_;

  ResourceScore only(const std::vector<Use>& runs) {
    write(folder_, runs);
    const ResourceEvaluation evaluation = evaluate_resources(folder_.path(), {}, library_);
    EXPECT_EQ(evaluation.scores.size(), 1U);
    return evaluation.scores.at(0);
  }
};

TEST_F(EvaluateResources, WhatIsPredictedExactlyHasNoError) {
  const ResourceScore score = only({predicted(library_)});
  EXPECT_EQ(score.setting, "base");
  EXPECT_EQ(score.resource, resource::Resource::Device);
  EXPECT_EQ(score.jobs, 1U);
  EXPECT_EQ(score.missing, 0U);
  EXPECT_NEAR(score.mean, 0, 1e-12);
  EXPECT_NEAR(score.nrmse, 0, 1e-12);
  EXPECT_NEAR(score.log_rmse, 0, 1e-12);
  EXPECT_FALSE(score.floor_mean);  // one run has no repeat
  EXPECT_FALSE(score.coverage);    // the operator engine gives no interval
}

// Measured: the amount as predicted, a burst twice as long, an idle half as long. Errors 0, 0.5
// and 1: mean 0.5, median 0.5. Log errors 0, log 2, log 2: the root of their mean square is
// log 2 sqrt(2/3). NRMSE: over the largest measured value 0, 0.5 and 1; mean 0.5.
TEST_F(EvaluateResources, ScoresFollowByHand) {
  Use use = predicted(library_);
  use.burst_s *= 2;
  use.idle_s /= 2;
  const ResourceScore score = only({use});
  EXPECT_NEAR(score.mean, 0.5, 1e-9);
  EXPECT_NEAR(score.median, 0.5, 1e-9);
  EXPECT_NEAR(score.of_number[index_of(resource::Number::BurstAmount)], 0, 1e-9);
  EXPECT_NEAR(score.of_number[index_of(resource::Number::BurstTime)], 0.5, 1e-9);
  EXPECT_NEAR(score.of_number[index_of(resource::Number::IdleTime)], 1, 1e-9);
  EXPECT_NEAR(score.log_rmse, std::log(2) * std::sqrt(2.0 / 3), 1e-9);
  EXPECT_NEAR(score.nrmse, 0.5, 1e-9);
}

// Three repeats whose numbers are 0.8, 1 and 1.2 of the prediction: the median is exact. Each
// against the median of the other two: 0.8 / 1.1, 1 / 1, 1.2 / 0.9, so errors of 3/11, 0 and 1/3;
// the same for all three numbers. Mean 20/99, median 3/11.
TEST_F(EvaluateResources, TheFloorIsARunAgainstItsOtherRepeats) {
  std::vector<Use> runs;
  for (const double factor : {0.8, 1.0, 1.2}) {
    Use use = predicted(library_);
    use.amount *= factor;
    use.burst_s *= factor;
    use.idle_s *= factor;
    runs.push_back(use);
  }
  const ResourceScore score = only(runs);
  EXPECT_EQ(score.jobs, 1U);
  EXPECT_NEAR(score.mean, 0, 1e-12);
  EXPECT_NEAR(score.floor_mean.value(), 20.0 / 99, 1e-9);
  EXPECT_NEAR(score.floor_median.value(), 3.0 / 11, 1e-9);
}

// Where no alternation is predicted, every number that was measured counts as an error of 100 %.
TEST_F(EvaluateResources, WhatIsNotPredictedToAlternateIsMissing) {
  const std::string alone =
      R"({"model": "mlp", "device": "cpu:cores=1", "batch": 4, "workers": 1})";
  measured::TestFolder folder;
  write(folder, {{90, 0.5, 0.5}}, "net_tx");  // one worker sends nothing
  folder.write("runs.csv",
               "id,configuration,setting,split,status,wall_s,step_median_s,request\n"
               R"(1,"{""model"":""mlp""}",base,test,ok,,1,)" +
                   quoted(alone) + "\n");
  const ResourceEvaluation evaluation = evaluate_resources(folder.path(), {}, library_);
  ASSERT_EQ(evaluation.scores.size(), 1U);
  EXPECT_EQ(evaluation.scores[0].missing, 3U);
  EXPECT_EQ(evaluation.scores[0].mean, 1);
  EXPECT_EQ(evaluation.scores[0].log_rmse, 0);  // of none
}

TEST_F(EvaluateResources, OnlyTheSplitAndSettingAskedForCount) {
  write(folder_, {predicted(library_)});
  EXPECT_EQ(evaluate_resources(folder_.path(), {.split = ""}, library_).scores.size(), 1U);
  EXPECT_THROW(evaluate_resources(folder_.path(), {.split = "train"}, library_), Error);
  EXPECT_THROW(evaluate_resources(folder_.path(), {.settings = {"other"}}, library_), Error);
}

ResourceCase made(std::string_view name, double measured, std::optional<double> predicted) {
  for (const resource::UseName& use : resource::use_names()) {
    if (use.name == name) {
      return {.setting = "base",
              .number = std::string(name),
              .use = use,
              .measured = measured,
              .predicted = predicted};
    }
  }
  throw Error(ErrorKind::NotFound, std::string(name));
}

ResourceCase within(ResourceCase one, double low, double high) {
  one.low = low;
  one.high = high;
  return one;
}

// Of four numbers three have an interval, and two of these lie inside; ends belong to it. The idle
// amount is no number of the paper's, but has an interval like the others.
TEST(ScoreResources, CoverageIsTheShareInsideTheIntervals) {
  const std::vector<ResourceScore> scores =
      score_resources({within(made("worker.net_tx.burst_s", 1, 1.5), 1, 2),
                       within(made("worker.net_tx.burst_amount", 3, 1.5), 1, 2),
                       within(made("worker.net_tx.idle_amount", 1.5, 1.5), 1, 2),
                       made("worker.net_tx.idle_s", 1, 1)});
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_DOUBLE_EQ(scores[0].coverage.value(), 2.0 / 3);
  // Errors of the paper's three: 0.5, 0.5 and 0.
  EXPECT_DOUBLE_EQ(scores[0].mean, 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores[0].median, 0.5);
}

// Errors 0.5 and 1: the second is not predicted. NRMSE: root of ((1 - 2)^2 + 4^2) / 2 over 4.
TEST(ScoreResources, WhatIsMissingCountsAsPredictedToBeZero) {
  const std::vector<ResourceScore> scores =
      score_resources({made("worker.net_rx.burst_s", 2, 1), made("worker.net_rx.burst_s", 4, {})});
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].missing, 1U);
  EXPECT_DOUBLE_EQ(scores[0].mean, 0.75);
  EXPECT_DOUBLE_EQ(scores[0].nrmse, std::sqrt(17.0 / 2) / 4);
  EXPECT_DOUBLE_EQ(scores[0].log_rmse, std::log(2));  // of the one that is predicted
}

// Two jobs, a step of 1 s predicted to be 1.5 s and one of 2 s that is exact: mean 0.25, median
// 0.25, logarithms log 1.5 and 0. What alternates is scored elsewhere.
TEST(ScoreNumbers, CountsWhatIsNoAlternation) {
  ResourceCase long_one{.setting = "base", .number = "step_time_s", .measured = 2, .predicted = 2};
  const ResourceCase short_one{
      .setting = "base", .number = "step_time_s", .measured = 1, .predicted = 1.5};
  long_one.repeats = {1, 3};  // against each other: 1 / 3 and 3 / 1, errors of 2/3 and 2
  const std::vector<NumberScore> scores =
      score_numbers({short_one, long_one, made("worker.net_rx.burst_s", 2, 1)});
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].number, "step_time_s");
  EXPECT_EQ(scores[0].jobs, 2U);
  EXPECT_DOUBLE_EQ(scores[0].mean, 0.25);
  EXPECT_DOUBLE_EQ(scores[0].median, 0.25);
  EXPECT_DOUBLE_EQ(scores[0].log_rmse, std::log(1.5) / std::sqrt(2));
  EXPECT_DOUBLE_EQ(scores[0].floor_mean.value(), 4.0 / 3);
}

// A burst share of a half of a step of 1 s.
TEST_F(EvaluateResources, BurstTimePerStepIsTheShareOfTheStep) {
  write(folder_, {predicted(library_)});
  folder_.write("metrics.csv",
                "run,role,instance,resource,pattern,burst_amount,idle_amount,burst_s,idle_s,"
                "burst_share\n1,worker,0,gpu_util,BIB,90,10,0.1,0.1,0.5\n"
                "1,worker,0,memory_used,B,4e8,,,,1\n");
  const ResourceEvaluation evaluation = evaluate_resources(folder_.path(), {}, library_);
  std::map<std::string, double> measured;
  for (const ResourceCase& one : evaluation.cases) measured[one.number] = one.measured;
  EXPECT_DOUBLE_EQ(measured.at("worker.gpu_util.burst_per_step_s"), 0.5);
  EXPECT_DOUBLE_EQ(measured.at("step_time_s"), 1);
  EXPECT_DOUBLE_EQ(measured.at("worker.memory_used"), 4e8);
  const Report report = predict(parse_request(kRequest, "test"), library_);
  for (const ResourceCase& one : evaluation.cases) {
    if (one.number == "step_time_s") {
      EXPECT_EQ(one.predicted, report.step_time_s.value);
    }
    if (one.number == "worker.memory_used") {
      EXPECT_EQ(one.predicted, report.memory.peak);
    }
  }
  EXPECT_EQ(evaluation.numbers.size(), 3U);
}

TEST(ScoreResources, RolesResourcesAndSettingsAreKeptApart) {
  ResourceCase elsewhere = made("worker.net_rx.burst_s", 1, 1);
  elsewhere.setting = "another";
  const std::vector<ResourceScore> scores =
      score_resources({made("worker.net_rx.burst_s", 1, 1), made("server.net_rx.burst_s", 1, 1),
                       made("worker.net_tx.burst_s", 1, 1), elsewhere});
  ASSERT_EQ(scores.size(), 4U);
  EXPECT_EQ(scores[0].setting, "base");
  EXPECT_EQ(scores[3].setting, "another");
}

TEST_F(EvaluateResources, ALineAndAnObjectTellTheSame) {
  Use use = predicted(library_);
  use.idle_s /= 2;
  write(folder_, {use});
  const ResourceEvaluation evaluation = evaluate_resources(folder_.path(), {}, library_);
  const Json json = parse_json(to_json(evaluation), "test");
  ASSERT_EQ(json.at("resources").size(), 1U);
  EXPECT_EQ(json.at("resources")[0].at("resource"), "gpu_util");
  EXPECT_NEAR(json.at("resources")[0].at("idle_s").get<double>(), 100, 1e-6);
  EXPECT_TRUE(json.at("resources")[0].at("coverage").is_null());
  const std::string rows = resource_rows(evaluation);
  EXPECT_EQ(rows.find("setting,split,model,number,repeats,measured,predicted,low,high,engine,runs,"
                      "request\n"),
            0U);
  EXPECT_NE(rows.find("base,test,resnet18-cifar,step_time_s,1,1,"), std::string::npos);
  EXPECT_NE(rows.find("base,test,resnet18-cifar,worker.gpu_util.burst_amount,1,"),
            std::string::npos);
}

}  // namespace
}  // namespace foretrain::evaluate
