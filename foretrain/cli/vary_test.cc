// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/vary.h"

#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/split.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

Outcome vary_program(const std::string& text, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"predict", "resnet18", "--device", "t4", "--vary", text});
  return run_program(more);
}

TEST(Vary, JsonHasAnEntryPerValue) {
  const Outcome outcome = vary_program("batch=8,16", {"--json"});
  EXPECT_EQ(outcome.code, 0);
  const Json list = parse_json(outcome.out);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["batch"], 8);
  EXPECT_EQ(list[1]["batch"], 16);
  EXPECT_TRUE(list[1]["report"].contains("step_time_s"));
  const Outcome alone =
      run_program({"predict", "resnet18", "--device", "t4", "--batch", "16", "--json"});
  EXPECT_EQ(list[1]["report"], parse_json(alone.out));
}

TEST(Vary, SemicolonsSeparateValuesWithCommas) {
  const Outcome outcome =
      vary_program("strategy=ddp;ps:servers=2,asynchronous=true", {"--workers", "2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json list = parse_json(outcome.out);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1]["strategy"], Json({{"kind", "ps"}, {"servers", 2}, {"asynchronous", true}}));
}

TEST(Vary, AFieldOfTheStrategyIsNamedWithADot) {
  const Outcome outcome =
      vary_program("strategy.servers=1,2", {"--workers", "2", "--strategy", "ps", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(parse_json(outcome.out)[1]["strategy.servers"], 2);
  EXPECT_EQ(vary_program("strategy.kind=ddp,ps", {"--workers", "2"}).code, 0);
}

TEST(Vary, AValueThatFailsLeavesTheOthers) {
  const Outcome json = vary_program("batch=0,8", {"--json"});
  EXPECT_EQ(json.code, 0);
  const Json list = parse_json(json.out);
  EXPECT_EQ(list[0]["error"]["kind"], "BadInput");
  EXPECT_TRUE(list[1].contains("report"));
  const Outcome text = vary_program("batch=8,0,x");
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("failed"), std::string::npos);
  EXPECT_NE(text.out.find("batch x: "), std::string::npos);
}

TEST(Vary, NothingThatWorksIsAnError) {
  const Outcome outcome = vary_program("batch=0,-1");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("no value works"), std::string::npos);
  EXPECT_EQ(vary_program("batch").code, 2);
  EXPECT_EQ(vary_program("batch=").code, 2);
}

TEST(Vary, TellsWhatEndsInTimeAtTheLeastCost) {
  const std::vector<std::string> job{
      "--batch", "64", "--samples", "1e6", "--epochs", "1", "--price-per-device-hour", "1"};
  std::vector<std::string> deadline = job;
  deadline.insert(deadline.end(), {"--deadline", "2d"});
  const Outcome outcome = vary_program("workers=1,2,4", deadline);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Cheapest within 2 d"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(": workers 1,"), std::string::npos) << outcome.out;
  deadline.back() = "1s";
  EXPECT_NE(vary_program("workers=1,2", deadline).out.find("No value ends within"),
            std::string::npos);
  const Outcome endless = vary_program("workers=1,2", {"--deadline", "2d"});
  EXPECT_EQ(endless.code, 2);
  EXPECT_NE(endless.err.find("needs the length of the job"), std::string::npos) << endless.err;
  deadline.back() = "soon";
  EXPECT_EQ(vary_program("workers=1,2", deadline).code, 2);
  EXPECT_EQ(run_program({"predict", "resnet18", "--deadline", "2d"}).code, 2);
}

Report report_with(double step, double peak) {
  Report report;
  report.step_time_s.value = step;
  report.samples_per_s = 1 / step;
  report.memory.peak = peak;
  report.breakdown.compute = Seconds{step};
  return report;
}

// From 100 ms to 150 ms is +50 %; 10 to 6.67 samples per second is -33 %.
TEST(VaryText, ShowsTheChangeAgainstTheFirstColumn) {
  const Varied varied{{"batch",
                       R"({"model":"m"})",
                       {{"1", report_with(0.1, 1024), {}}, {"2", report_with(0.15, 1024), {}}}},
                      {"1", "2"}};
  EXPECT_EQ(varied_text(varied, Screen{}),
            "model m\n"
            "\n"
            "  batch                 1         2\n"
            "  time per step  100.0 ms  150.0 ms  +50 %\n"
            "  samples/s            10      6.67  -33 %\n"
            "  memory         1.00 KiB  1.00 KiB      =\n"
            "    fits              yes       yes\n"
            "  compute        100.0 ms  150.0 ms  +50 %\n");
}

TEST(VaryText, ManyValuesBecomeSeveralTablesThatFit) {
  Varied varied{{"batch", R"({"model":"m"})", {}}, {}};
  for (int i = 1; i <= 12; ++i) {
    varied.texts.push_back(std::to_string(i));
    varied.variation.variants.push_back({varied.texts.back(), report_with(0.1 * i, 1e9), {}});
  }
  const std::string text = varied_text(varied, Screen{});
  int tables = 0;
  for (const std::string& line : split(text, '\n')) {
    EXPECT_LE(line.size(), 80U) << line;
    tables += line.starts_with("  batch") ? 1 : 0;
  }
  EXPECT_GT(tables, 1);
  EXPECT_NE(text.find(" 12"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::cli
