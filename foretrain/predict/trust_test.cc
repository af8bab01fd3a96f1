// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "foretrain/operators/answer.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

Intervals some_intervals() {
  Intervals intervals;
  intervals.spread = {{-1, 0.25}, {{Trait::Family, {{"cnn", {0.5, 0}}}}}, {0, 0}, {1, 0}};
  intervals.measured.push_back({"resnet50", "cnn", "v100-sxm2", "volta", "fp32", "train",
                                "pytorch-1", "gavel", 1, 8, 16, 128});
  return intervals;
}

class Trust : public testing::Test {
 protected:
  Report report_of(const std::string& json) {
    library_.intervals = std::make_shared<const Intervals>(some_intervals());
    return predict(parse_request(json, "test"), library_);
  }

  Library library_ = load_library();
};

// One ReLU network of few convolutions: its kernels take microseconds, so the host binds.
TEST_F(Trust, TheStepHasTheIntervalOfWhatItSpendsItsTimeOn) {
  const Report report = report_of(
      R"({"model": "resnet18-cifar", "device": "v100-sxm2-32gb", "batch": 16, "framework": "pytorch-1"})");
  EXPECT_EQ(word(report.regime, Trait::Family), "cnn");
  EXPECT_EQ(word(report.regime, Trait::Scale), "one");
  const Estimate& step = report.step_time_s;
  const double host = report.breakdown.host.count() / step.value;
  EXPECT_GT(host, 0.1);
  EXPECT_NEAR(*step.low, step.value * std::exp(-std::exp(-1 - 0.25 + 0.5 + host)), 1e-12);
  EXPECT_NEAR(*step.high, step.value * std::exp(std::exp(-1 + 0.25 + 0.5 + host)), 1e-12);
  EXPECT_EQ(step.confidence, 0.9);
  EXPECT_TRUE(report.warnings.empty());
}

// The only measured device is a V100.
TEST_F(Trust, TheAnswerSaysWhetherSuchWasMeasured) {
  library_.intervals = std::make_shared<const Intervals>(some_intervals());
  for (const auto& [device, inside] : {std::pair{"v100-sxm2-32gb", true}, std::pair{"t4", false}}) {
    const Request request =
        parse_request(R"({"model": "resnet18-cifar", "framework": "pytorch-1", "device": ")" +
                          std::string(device) + "\"}",
                      "test");
    const Resolved resolved = resolve(request, library_);
    const auto answer = operators::OperatorEngine().answer(Question(resolved, library_));
    for (const Target& target : answer->targets) EXPECT_EQ(target.inside, inside) << target.name;
  }
}

TEST_F(Trust, TheReportSaysWhichEngineAndWhy) {
  const Report report = report_of(R"({"model": "mlp", "device": "t4", "engine": "operators"})");
  ASSERT_EQ(report.engines.size(), 3U);
  for (const EngineReport& one : report.engines) EXPECT_EQ(one.engine, "operators");
  EXPECT_EQ(report.engines[0].why,
            "asked for by engine=operators; where the simulated timeline ends");
  EXPECT_EQ(report.engines[2].why, "the only engine that answers");
}

// As `predictors` of a request, the way a user gives it.
TEST_F(Trust, AFileOfIntervalsIsAPredictor) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "foretrain_intervals_test.json";
  Intervals mine = some_intervals();
  mine.spread = {{std::log(0.5), 0}, {}, {}, {}};
  std::ofstream(file) << write_intervals(mine, {});
  const Report report = predict(
      parse_request(R"({"model": "mlp", "device": "t4", "predictors": [")" + file.string() + "\"]}",
                    "test"),
      library_);
  std::filesystem::remove(file);
  const Estimate& step = report.step_time_s;
  EXPECT_NEAR(*step.low, step.value * std::exp(-0.5), 1e-12);
  EXPECT_NEAR(*step.high, step.value * std::exp(0.5), 1e-12);
  for (const std::string& text : report.assumptions) {
    EXPECT_EQ(text.find("without your predictors"), std::string::npos);
  }
}

// The ends are 0.8 and 1.5 times the peak; every quantile is 0, so what is predicted to fit does so
// as surely as anything is said to.
TEST_F(Trust, MemoryHasItsOwnInterval) {
  MemoryIntervals intervals{0.9, {}, {{"", {std::log(0.8), std::log(1.5), {}, 30, 3}}}};
  library_.memory_intervals = std::make_shared<const MemoryIntervals>(intervals);
  const MemoryReport memory = report_of(R"({"model": "mlp", "device": "t4", "batch": 16})").memory;
  EXPECT_NEAR(*memory.low, 0.8 * memory.peak, 1);
  EXPECT_NEAR(*memory.high, 1.5 * memory.peak, 1);
  EXPECT_EQ(memory.fit_probability, 0.99);
  const MemoryReport inference =
      report_of(R"({"model": "mlp", "device": "t4", "mode": "inference"})").memory;
  EXPECT_FALSE(inference.low);
  EXPECT_FALSE(inference.fit_probability);
}

TEST_F(Trust, ACpuHasNoIntervalAndAWarning) {
  const Report report =
      report_of(R"({"model": "resnet18-cifar", "device": "cpu:cores=2", "batch": 16})");
  EXPECT_FALSE(report.step_time_s.low);
  EXPECT_EQ(report.warnings.size(), 2u);
}

}  // namespace
}  // namespace foretrain
