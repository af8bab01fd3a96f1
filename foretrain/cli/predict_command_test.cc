// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/split.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

const std::vector<std::string> kJob{"predict", "resnet18", "--device", "v100-sxm2-16gb"};

Outcome predict(std::vector<std::string> more, const std::vector<std::string>& environment = {}) {
  more.insert(more.begin(), kJob.begin(), kJob.end());
  Outcome outcome = run_program(more, "", environment);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome;
}

TEST(Predict, JsonHasTheFieldsOfTheInterface) {
  const Json report = parse_json(predict({"--json"}).out);
  for (const char* field : {"step_time_s", "throughput", "breakdown_s", "memory_bytes", "resources",
                            "top_operators", "assumptions", "warnings", "engine"}) {
    EXPECT_TRUE(report.contains(field)) << field;
  }
  EXPECT_GT(report["step_time_s"]["value"].get<double>(), 0);
}

TEST(Predict, SameArgumentsGiveTheSameBytes) {
  EXPECT_EQ(predict({"--json"}).out, predict({"--json"}).out);
}

TEST(Predict, WorksFromAnyFolder) {
  std::vector<char> here(4096);
  ASSERT_NE(getcwd(here.data(), here.size()), nullptr);
  const std::string expected = predict({"--json"}).out;
  ASSERT_EQ(chdir("/"), 0);
  EXPECT_EQ(predict({"--json"}).out, expected);
  ASSERT_EQ(chdir(here.data()), 0);
}

TEST(Predict, TopSaysHowManyOperatorsAreListed) {
  EXPECT_EQ(parse_json(predict({"--json", "--top", "3"}).out)["top_operators"].size(), 3U);
}

TEST(Predict, TraceIsAListOfEvents) {
  const TemporaryFile trace("trace.json", "");
  predict({"--trace", trace.path()});
  const Json events = parse_json(read_text(trace.path()))["traceEvents"];
  EXPECT_GT(events.size(), 10U);
  EXPECT_TRUE(parse_json(predict({"--trace", "-"}).out).contains("traceEvents"));
}

TEST(Predict, DumpsAreJson) {
  for (const char* stage : {"graph", "tasks", "timeline"}) {
    EXPECT_FALSE(parse_json(predict({"--dump", stage}).out).empty()) << stage;
  }
  EXPECT_TRUE(parse_json(predict({"--dump", "groups"}).out).is_array());
}

TEST(Predict, AFileOfTheGraphPredictsTheSame) {
  const TemporaryFile file("resnet18.ftg.json", "");
  ASSERT_EQ(run_program({"graph", "resnet18", "--ftg", file.path()}).code, 0);
  const Outcome from_file =
      run_program({"predict", file.path(), "--device", "v100-sxm2-16gb", "--json"});
  ASSERT_EQ(from_file.code, 0) << from_file.err;
  EXPECT_EQ(parse_json(from_file.out)["step_time_s"],
            parse_json(predict({"--json"}).out)["step_time_s"]);
}

bool is_ascii(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

TEST(PredictText, FitsEightyColumnsInAFile) {
  const Outcome outcome = predict({"--batch", "64", "--dataset", "imagenet", "--epochs", "90"});
  for (const std::string& line : split(outcome.out, '\n')) EXPECT_LE(line.size(), 80U) << line;
  for (const char* word : {"time per step", "total time", "Memory", "fits", "Slowest operators",
                           "Resources of a worker", "Assumptions"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
}

TEST(PredictText, FollowsTheLocale) {
  EXPECT_TRUE(is_ascii(predict({}, {"LC_ALL=C", "LANG=en_US.UTF-8"}).out));
  EXPECT_FALSE(is_ascii(predict({}, {"LANG=en_US.UTF-8"}).out));
}

TEST(PredictText, SaysWhatDoesNotFit) {
  const Outcome outcome = predict({"--batch", "4096"});
  EXPECT_NE(outcome.out.find("does not fit"), std::string::npos);
  EXPECT_NE(outcome.out.find("Warnings"), std::string::npos);
}

TEST(PredictText, ShowsTheServersOfAParameterServerJob) {
  const Outcome outcome = predict({"--workers", "4", "--workers-per-node", "1", "--network",
                                   "10gbe", "--strategy", "ps:servers=2"});
  EXPECT_NE(outcome.out.find("Resources of a server"), std::string::npos);
}

TEST(PredictText, ColoursOnlyATerminalWithoutNoColor) {
  const std::string escape = "\033[";
  EXPECT_EQ(predict({}, {"TERM=xterm"}).out.find(escape), std::string::npos);
  EXPECT_NE(run_on_terminal(kJob, 100, {"TERM=xterm"}).out.find(escape), std::string::npos);
  const Outcome plain = run_on_terminal(kJob, 100, {"TERM=xterm", "NO_COLOR=1"});
  EXPECT_EQ(plain.code, 0);
  EXPECT_EQ(plain.out.find(escape), std::string::npos);
  EXPECT_NE(plain.out.find("time per step"), std::string::npos);
}

TEST(PredictText, UsesTheWidthOfTheTerminal) {
  std::size_t widest = 0;
  for (const std::string& line :
       split(run_on_terminal(kJob, 110, {"NO_COLOR=1", "LC_ALL=C"}).out, '\n')) {
    widest = std::max(widest, line.size());
  }
  EXPECT_GT(widest, 80U);
  EXPECT_LE(widest, 111U);  // a terminal ends lines with a carriage return
}

}  // namespace
}  // namespace foretrain::cli
