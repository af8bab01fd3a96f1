// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "foretrain/evaluate/evaluate.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/predict/predict.h"

namespace foretrain::evaluate {
namespace {

using Places = std::vector<std::size_t>;

// On a line at 0, 1/8, 1/2 and 1 the sums of distances to all are 13/8, 11/8, 11/8 and 19/8: the
// second is the first of the two smallest. Beside it the last one leaves 1/8 + 0 + 3/8 + 0, the
// third 1/8 + 0 + 0 + 1/2, the first 0 + 0 + 3/8 + 7/8.
TEST(Spread, TakesTheMiddleThenWhatIsFar) {
  const std::vector<Shares> line{{0}, {0.125}, {0.5}, {1}};
  EXPECT_EQ(spread(line, 1), (Places{1}));
  EXPECT_EQ(spread(line, 2), (Places{1, 3}));
  EXPECT_EQ(spread(line, 9).size(), 4U);
}

TEST(Spread, TakesDifferentPlacesOfEqualRows) {
  EXPECT_EQ(spread({{1}, {1}, {1}}, 2), (Places{0, 1}));
  EXPECT_TRUE(spread({}, 2).empty());
}

TEST(Spread, LooksAtLargeSetsEvenly) {
  EXPECT_EQ(spread(std::vector<Shares>(5000), 2), (Places{0, 3}));
}

TEST(Draw, TakesDifferentPlacesAndTheSameForASeed) {
  const Places drawn = draw(10, 3, 7);
  ASSERT_EQ(drawn.size(), 3U);
  EXPECT_EQ(std::set<std::size_t>(drawn.begin(), drawn.end()).size(), 3U);
  EXPECT_LT(*std::max_element(drawn.begin(), drawn.end()), 10U);
  EXPECT_EQ(draw(10, 3, 7), drawn);
  EXPECT_EQ(draw(2, 3, 7).size(), 2U);  // no more than there are
  EXPECT_TRUE(draw(0, 3, 7).empty());
}

const char* const kMapping = R"({"rules": [
    {"request": {"model": "{model}", "device": "t4", "batch": "{batch_per_gpu}",
                 "framework": "{framework}"}},
    {"when": {"metric": "step_time"}, "compare": {"number": "step_time_s"}},
    {"when": {"metric": "rate"}, "compare": {"number": "samples_per_s"}},
    {"when": {"metric": "memory"}, "compare": {"number": "memory_peak_bytes"}}]})";

struct Evaluated {
  Evaluation evaluation;
  std::vector<Case> cases;
  std::vector<std::vector<double>> fitted;  // step times that each fit was given
};

// Rows of two models; the fit always says that the machine computes at half speed.
Evaluated calibrated(const std::string& lines, std::size_t rows, std::size_t most_groups = 0) {
  const measured::TestFolder folder;
  folder.write("made.json", kMapping);
  folder.write("made.csv", measured::kTrainingHeader + lines);
  Evaluated result;
  Options options;
  options.calibration.rows = rows;
  options.calibration.by = {"model"};
  options.calibration.most_groups = most_groups;
  options.calibration.fit = [&](const std::vector<measured::MeasuredStep>& steps, const Library&) {
    std::vector<double>& times = result.fitted.emplace_back();
    for (const measured::MeasuredStep& step : steps) times.push_back(step.step_time_s);
    return Calibration{"t4", 0.5, 0.5, 0.5, 1};
  };
  Observer observer;
  observer.on_case = [&](const Case& one) { result.cases.push_back(one); };
  result.evaluation = evaluate(folder.path(), options, load_library(), observer);
  return result;
}

std::string line(const std::string& model, int batch, const std::string& metric,
                 const std::string& value) {
  return "made,pytorch," + model + ",data,T4,1,1,1,n/a,FP32," + std::to_string(batch) + ",8," +
         metric + "," + value + ",s,ddp,none\n";
}

// 4 samples at 8 per second are steps of 0.5 s. The rate row of batch 4 tells of the same run
// as its step time, so both are left out of the score.
TEST(JudgeCalibrated, FitsEachGroupAndLeavesItsRunsOut) {
  const std::string lines = line("mlp", 4, "rate", "8") + line("mlp", 4, "step_time", "0.5") +
                            line("mlp", 1024, "step_time", "1") +
                            line("vgg11", 8, "step_time", "2") + line("vgg11", 8, "memory", "1e9");
  const Evaluated result = calibrated(lines, 1);
  ASSERT_EQ(result.fitted.size(), 2U);
  ASSERT_EQ(result.fitted[0].size(), 1U);
  EXPECT_NEAR(result.fitted[0][0], 0.5, 1e-12);
  EXPECT_EQ(result.fitted[1], (std::vector<double>{2}));
  ASSERT_EQ(result.cases.size(), 5U);
  for (const std::size_t used : {0U, 1U, 3U, 4U}) {
    EXPECT_EQ(result.cases[used].outcome, Outcome::Calibration) << used;
  }
  EXPECT_EQ(result.cases[2].outcome, Outcome::Predicted);
  Library slow = load_library();
  slow.calibrations = {{"t4", 0.5, 0.5, 0.5, 1}};
  const Request large =
      parse_request(R"({"model": "mlp", "device": "t4", "batch": 1024})", "large");
  EXPECT_EQ(result.cases[2].predicted, predict(large, slow).step_time_s.value);
  EXPECT_EQ(result.evaluation.total.predicted, 1U);
  ASSERT_EQ(result.evaluation.calibrated.size(), 2U);
  EXPECT_EQ(result.evaluation.calibrated[0].key, (std::vector<std::string>{"t4", "mlp"}));
  EXPECT_EQ(result.evaluation.calibrated[1].runs, 1U);
}

// Of three models with steps one is drawn; of the others nothing is scored. Memory is.
TEST(JudgeCalibrated, NoMoreGroupsThanAskedFor) {
  std::string lines;
  for (const char* model : {"mlp", "vgg11", "resnet18"}) {
    lines += line(model, 4, "step_time", "0.5") + line(model, 8, "step_time", "1");
  }
  const Evaluated result = calibrated(lines + line("resnet50", 4, "memory", "1e9"), 1, 1);
  EXPECT_EQ(result.fitted.size(), 1U);
  int undrawn = 0;
  for (const Case& one : result.cases) undrawn += one.reason == "its group was not drawn" ? 1 : 0;
  EXPECT_EQ(undrawn, 4);
  EXPECT_EQ(result.evaluation.total.predicted, 2U);  // the drawn model's other run and the memory
}

// Memory does not tell how fast a machine is.
TEST(JudgeCalibrated, LeavesAGroupAloneThatSaysNothing) {
  const Evaluated result = calibrated(line("mlp", 4, "memory", "1e9"), 3);
  EXPECT_TRUE(result.fitted.empty());
  EXPECT_EQ(result.cases[0].outcome, Outcome::Predicted);
  EXPECT_EQ(result.evaluation.calibrated[0].runs, 0U);
}

}  // namespace
}  // namespace foretrain::evaluate
