// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

// Five bursts of 40 ms at 90 % and five idles of 60 ms at 10 %.
std::string square_wave() {
  std::string text = "time_s,gpu_util\n";
  for (int i = 0; i < 50; ++i) {
    text += std::to_string(0.01 * i) + (i % 10 < 4 ? ",90\n" : ",10\n");
  }
  return text;
}

TEST(ProfileCommand, PrintsTheResourcesOfARecordedTrace) {
  const TemporaryFile file("trace.csv", square_wave());
  const Outcome outcome = run_program({"profile", "--from", file.path(), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json resources = parse_json(outcome.out);
  EXPECT_EQ(resources["window_s"], 0.01);
  const Json& use = resources["worker"]["gpu_util"];
  EXPECT_EQ(use["pattern"], "BIB");
  EXPECT_NEAR(use["burst_s"].get<double>(), 0.04, 1e-9);
  EXPECT_NEAR(use["idle_s"].get<double>(), 0.06, 1e-9);
  EXPECT_EQ(use["burst_amount"], 90);
  EXPECT_TRUE(resources["worker"]["net_tx"].is_null());
  EXPECT_TRUE(resources["server"].is_null());
}

TEST(ProfileCommand, ReadsStandardInputAndShowsATable) {
  const Outcome outcome = run_program({"profile", "--from", "-"}, square_wave());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("gpu_util"), std::string::npos);
  EXPECT_NE(outcome.out.find("One iteration takes 100"), std::string::npos) << outcome.out;
}

TEST(ProfileCommand, WritesCsvAndPictures) {
  const TemporaryFile file("trace.csv", square_wave());
  const std::string csv = run_program({"profile", "--from", file.path(), "-o", "-"}).out;
  EXPECT_TRUE(csv.starts_with("time_s,gpu_util\n0,90\n0.01,90\n")) << csv.substr(0, 80);
  const std::string svg = run_program({"profile", "--from", file.path(), "--svg", "-"}).out;
  EXPECT_TRUE(svg.starts_with("<svg"));
  const std::string html = run_program({"profile", "--from", file.path(), "--html", "-"}).out;
  EXPECT_NE(html.find("<svg"), std::string::npos);
}

TEST(ProfileCommand, LeavesOutTheStart) {
  const std::string csv =
      run_program({"profile", "--from", "-", "--skip", "0.1", "-o", "-"}, square_wave()).out;
  EXPECT_TRUE(csv.starts_with("time_s,gpu_util\n0,90\n")) << csv.substr(0, 80);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 41);  // forty windows and the titles
}

TEST(ProfileCommand, PassesTheExitCodeOn) {
  const Outcome outcome =
      run_program({"profile", "--json", "--", "sh", "-c", "echo said; sleep 0.1; exit 5"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_TRUE(parse_json(outcome.out)["worker"].contains("memory_used"));
  EXPECT_NE(outcome.err.find("said"), std::string::npos);
}

TEST(ProfileCommand, SaysWhatIsWrong) {
  EXPECT_EQ(run_program({"profile"}).code, 2);
  EXPECT_EQ(run_program({"profile", "--pid", "4194304"}).code, 2);
  const Outcome missing = run_program({"profile", "--", "no-such-program"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("cannot run 'no-such-program'"), std::string::npos) << missing.err;
}

// GPU 1 is the busier.
TEST(ProfileCommand, ShowsTheGpuThatIsAskedFor) {
  const std::string trace =
      "timestamp, index, utilization.gpu [%]\n2026/11/16 10:00:00.0, 0, 10 %\n"
      "2026/11/16 10:00:00.0, 1, 95 %\n";
  const auto mean = [&](const char* gpu) {
    const Outcome outcome = run_program({"profile", "--from", "-", "--gpu", gpu, "--json"}, trace);
    return parse_json(outcome.out)["worker"]["gpu_util"]["mean"].get<double>();
  };
  EXPECT_EQ(mean("0"), 10);
  EXPECT_EQ(mean("1"), 95);
  EXPECT_EQ(run_program({"profile", "--from", "-", "--gpu", "2"}, trace).code, 2);
}

TEST(ProfileCommand, OpensItsFilesBeforeTheJobRuns) {
  const Outcome outcome =
      run_program({"profile", "-o", "/no-such-folder/x.csv", "--", "echo", "has run"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("cannot write '/no-such-folder/x.csv'"), std::string::npos);
}

TEST(ProfileCommand, AnswersWhereTheDiskIsFull) {
  const Outcome outcome =
      run_program({"profile", "--from", "-", "--json", "-o", "/dev/full"}, square_wave());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(parse_json(outcome.out)["window_s"], 0.01);
  EXPECT_NE(outcome.err.find("cannot write '/dev/full'"), std::string::npos);
}

TEST(ProfileCommand, StandardOutputHoldsOneThing) {
  EXPECT_EQ(run_program({"profile", "--from", "-", "--json", "--svg", "-"}, square_wave()).code, 2);
  EXPECT_EQ(run_program({"profile", "--from", "-", "-o", "-", "--html", "-"}, square_wave()).code,
            2);
  const Outcome outcome =
      run_program({"profile", "-o", "-", "--", "sh", "-c", "echo said; sleep 0.1"});
  EXPECT_TRUE(outcome.out.starts_with("time_s,")) << outcome.out;
  EXPECT_NE(outcome.err.find("said"), std::string::npos);
}

TEST(ProfileCommand, RefusesNumbersThatAreNone) {
  for (const char* option : {"--interval", "--duration", "--skip", "--cores", "--net-rate"}) {
    for (const char* number : {"nan", "inf", "1e300", "-1"}) {
      const Outcome outcome = run_program(
          {"profile", "--from", "-", std::string(option) + "=" + number}, square_wave());
      EXPECT_EQ(outcome.code, 2) << option << number << outcome.err;
    }
  }
  EXPECT_EQ(run_program({"profile", "--from", "-", "--gpu=-5"}, square_wave()).code, 2);
}

TEST(ProfileCommand, RefusesOptionsThatWouldHaveNoEffect) {
  EXPECT_NE(run_program({"profile", "--duration", "1", "--", "true"}).err.find("--duration"),
            std::string::npos);
  EXPECT_NE(run_program({"profile", "--from", "-", "--cores", "2"}).err.find("--cores"),
            std::string::npos);
  EXPECT_NE(run_program({"profile", "--interval", "0", "--", "true"}).err.find("--interval"),
            std::string::npos);
}

// A name with an escape sequence and a byte that is not UTF-8.
TEST(ProfileCommand, NamesOfColumnsCannotSteerTheTerminal) {
  const std::string trace = "time_s,\x1b[31mred\xff\n0,1\n0.01,2\n";
  for (const char* format : {"--json", "--svg=-", "--html=-", "-o-"}) {
    const Outcome outcome = run_program({"profile", "--from", "-", format}, trace);
    EXPECT_EQ(outcome.out.find_first_of("\x1b\xff"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("x1b[31mred"), std::string::npos) << outcome.out;
  }
  const Outcome text = run_program({"profile", "--from", "-"}, trace);
  EXPECT_EQ(text.out.find_first_of("\x1b\xff"), std::string::npos) << text.out;
}

TEST(ProfileCommand, HandsSignalsOn) {
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    become_program({"profile", "--json", "--", "sleep", "20"});
  }
  usleep(400'000);
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 128 + SIGTERM);
}

}  // namespace
}  // namespace foretrain::cli
