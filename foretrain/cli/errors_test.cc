// SPDX-License-Identifier: Apache-2.0
// What the program says when it cannot do what is asked: exit code and exactly one line.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "foretrain/base/json.h"
#include "foretrain/cli/run.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

// One line on standard error that begins with the program's name, nothing on standard output.
void expect_refusal(const std::vector<std::string>& arguments, int code, const std::string& part) {
  const Outcome outcome = run_program(arguments);
  std::string command;
  for (const std::string& argument : arguments) command += " " + argument;
  EXPECT_EQ(outcome.code, code) << command;
  EXPECT_EQ(outcome.out, "") << command;
  EXPECT_EQ(outcome.err.rfind("foretrain: ", 0), 0U) << command << "\n" << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << command;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << command << "\n" << outcome.err;
}

TEST(Program, AloneAndHelpExplainThemselves) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"--help"}, {"-h"}}) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out.find("predict"), std::string::npos);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Program, EveryCommandHasHelpWithAnExample) {
  for (const char* command : {"predict", "graph", "models", "devices", "networks", "clouds",
                              "frameworks", "evaluate", "simulate"}) {
    const Outcome outcome = run_program({command, "--help"});
    EXPECT_EQ(outcome.code, 0) << command;
    EXPECT_NE(outcome.out.find("Example"), std::string::npos) << command;
    EXPECT_NE(outcome.out.find(std::string("  foretrain ") + command), std::string::npos)
        << command;
  }
}

TEST(Program, VersionIsThatOfTheProject) {
  EXPECT_EQ(run_program({"--version"}).out, std::string("foretrain ") + kVersion + "\n");
  EXPECT_NE(read_text("CMakeLists.txt").find(std::string("VERSION ") + kVersion),
            std::string::npos);
}

TEST(Errors, UnknownWordsListNearMatches) {
  expect_refusal({"predcit", "resnet50"}, 2, "did you mean 'predict'?");
  expect_refusal({"predict", "resnet50", "--devise", "t4"}, 2, "did you mean '--device'");
  expect_refusal({"predict", "resnet500", "--device", "t4"}, 2, "resnet50");
  expect_refusal({"predict", "resnet50", "--device", "v100-sxm2-16g"}, 2, "v100-sxm2-16gb");
  expect_refusal({"predict", "resnet50", "--device", "t4", "--vary", "bacth=1,2"}, 2, "batch");
  expect_refusal({"devices", "v100-sxm9"}, 2, "no device matches");
}

// As from a script whose variable is not set: nothing is written, and nobody would be told.
TEST(Errors, EmptyValuesAreNotTakenForNone) {
  for (const char* option : {"--trace", "--external", "--vary", "--requests", "--dump"}) {
    expect_refusal({"predict", "resnet50", "--device", "t4", option, ""}, 2, "its value is empty");
  }
  for (const char* option : {"--jobs", "--events", "--chart"}) {
    expect_refusal({"simulate", "generate:jobs=1", "--cluster", "1x1", option, ""}, 2,
                   std::string(option) + ": its value is empty");
  }
  expect_refusal({"graph", "resnet50", "--ftg", ""}, 2, "--ftg: its value is empty");
  expect_refusal({"profile", "--store", "", "--", "true"}, 2, "--store: its value is empty");
  expect_refusal({"profile", "-o", "", "--", "true"}, 2, "--output: its value is empty");
}

TEST(Errors, AnOptionInFrontOfItsCommandIsToldWhereItBelongs) {
  expect_refusal({"store", "--store", "my.db", "ls"}, 2,
                 "option '--store' must stand behind 'ls'; see foretrain store ls --help");
}

// A rate of 1e-308 made steps of infinite length, a host speed of 1e-320 a faster step.
TEST(Errors, RatesThatNothingHasAreRefused) {
  for (const char* option : {"--host-speed", "--input-rate", "--copy-rate"}) {
    for (const char* value : {"1e-308", "1e-320"}) {
      expect_refusal({"predict", "mlp", "--device", "t4", option, value}, 2, "at least 1e-09");
    }
  }
}

TEST(Errors, OfFitsAreOneLineToo) {
  expect_refusal({"fit"}, 2, "A subcommand is required; see foretrain fit --help");
  expect_refusal({"fit", "operators"}, 2, "--output is required");
  expect_refusal({"fit", "operators", "-o", "never.json"}, 2, "nothing to fit operators by");
  expect_refusal({"fit", "scaling", "--nope"}, 2, "unknown option '--nope'");
}

TEST(Errors, AShapeIsNoClusterOfPredict) {
  for (const char* shape : {"4x8", "4X8"}) {
    expect_refusal({"predict", "resnet50", "--cluster", shape}, 2,
                   std::string("cluster '") + shape +
                       "' names no devices; give 'device', 'workers' and 'workers_per_node': 8");
  }
}

TEST(Errors, UsualWordsLeadToOptions) {
  expect_refusal({"predict", "mlp", "--gpus", "8"}, 2, "did you mean '--workers'?");
  expect_refusal({"predict", "mlp", "--tp=8"}, 2, "did you mean '--tensor'?");
  expect_refusal({"predict", "mlp", "--gradient-checkpointing"}, 2,
                 "did you mean '--recompute full'?");
  expect_refusal({"devices", "--gpus", "8"}, 2, "unknown option '--gpus'; see foretrain devices");
  expect_refusal({"plan", "--help"}, 2, "unknown command 'plan'");
}

TEST(Errors, UsageIsOneLine) {
  expect_refusal({"--nonsense"}, 2, "unknown option '--nonsense'");
  expect_refusal({"predict", "resnet50", "again"}, 2, "unexpected argument 'again'");
  expect_refusal({"predict", "resnet50", "--batch"}, 2, "--batch needs a value");
  expect_refusal({"predict", "a", "--batch", "1", "--batch", "2"}, 2, "more than once");
  expect_refusal({"predict", "--vary", "batch=1", "--vary", "workers=1"}, 2, "more than once");
  expect_refusal({"predict", "--requests", "-", "--threads", "0"}, 2, "--threads");
  expect_refusal({"predict"}, 2, "'model' is required");
  expect_refusal({"graph"}, 2, "MODEL is required");
  expect_refusal({"predict", "resnet50"}, 2, "'device' is required");
  expect_refusal({"predict", "resnet50", "--requests", "-"}, 2, "--requests");
  expect_refusal({"predict", "x", "--vary", "batch=1", "--dump", "graph"}, 2, "--vary");
  expect_refusal({"graph", "resnet18", "--json", "--dot"}, 2, "only one of");
}

// The program that `foretrain fit` becomes speaks as the others do.
TEST(Errors, UsageOfFitIsOneLine) {
  expect_refusal({"fit"}, 2, "foretrain fit --help");
  expect_refusal({"fit", "operatros"}, 2, "did you mean 'operators'?");
  expect_refusal({"fit", "operators", "--datta", "x"}, 2, "did you mean '--data'?");
  expect_refusal({"fit", "operators", "--data", "x"}, 2, "--output is required");
  expect_refusal({"fit", "operators", "-o", "-"}, 2, "--data, --steps");
  expect_refusal({"fit", "calibration", "-o", "-"}, 2, "nothing to calibrate by");
  expect_refusal({"fit", "calibration", "-o", "-", "--noise", "nan"}, 2, "--noise");
  expect_refusal({"fit", "framework", "a", "--data", "b", "-o", "/no/such/folder/x"}, 1,
                 "/no/such/folder/x");
}

TEST(Errors, UnknownPartsOfCommandsListNearMatches) {
  expect_refusal({"store", "exprot"}, 2, "did you mean 'export'?");
}

TEST(Errors, NumbersOutOfRangeAreRefused) {
  for (const char* value : {"0", "-1", "nan", "inf", "1e999", "99999999999999999999", "1.5", "x"}) {
    expect_refusal({"predict", "resnet50", "--device", "t4", "--batch", value}, 2, "batch");
    expect_refusal({"predict", "resnet50", "--device", "t4", "--workers", value}, 2, "workers");
  }
  expect_refusal({"predict", "resnet50", "--device", "t4", "--epochs", "-1"}, 2, "epochs");
  expect_refusal({"predict", "resnet50", "--device", "t4", "--top", "-1"}, 2, "--top");
  expect_refusal({"graph", "resnet50", "--batch", "0"}, 2, "--batch");
  expect_refusal({"graph", "resnet50", "--batch", "1000000000"}, 2, "resnet50");
}

// As unsigned numbers -1 is the largest there is, and so is all that is larger.
TEST(Errors, SeedsAreWholeNumbers) {
  for (const char* value : {"-1", "9223372036854775808", "99999999999999999999", "1.5", "x", ""}) {
    expect_refusal({"graph", "mlp", "--group", "2", "--seed", value}, 2, "--seed");
    expect_refusal({"simulate", "generate:jobs=1", "--cluster", "1x8", "--seed", value}, 2,
                   "--seed");
    expect_refusal({"search", "--table", "x.csv", "--seed", value}, 2, "--seed");
    expect_refusal({"fit", "scaling", "--data", "x.csv", "--seed", value}, 2, "--seed");
  }
}

TEST(Errors, AnotherLineInTheArgumentStaysOneLine) {
  expect_refusal({"predict", "res\nnet\033[31m", "--device", "t4"}, 2, "res\\nnet");
}

TEST(Errors, MissingFilesAreAnIoError) {
  expect_refusal({"graph", "/no/such/file.ftg.json"}, 1, "/no/such/file.ftg.json");
  expect_refusal({"predict", "--requests", "/no/such/file"}, 1, "/no/such/file");
  expect_refusal({"predict", "resnet50", "--device", "/no/such/file.json"}, 1, "/no/such/file");
  expect_refusal({"predict", "resnet18", "--device", "t4", "--trace", "/no/such/folder/x"}, 1,
                 "/no/such/folder/x");
}

TEST(Errors, BrokenModelFilesAreRefused) {
  const std::string whole = run_program({"graph", "mlp", "--ftg", "-"}).out;
  ASSERT_GT(whole.size(), 200U);
  const TemporaryFile truncated("truncated.ftg.json", whole.substr(0, whole.size() / 2));
  expect_refusal({"graph", truncated.path()}, 2, "truncated.ftg.json");
  std::string noise;
  unsigned state = 1;
  for (int i = 0; i < 4096; ++i) {
    state = state * 1664525U + 1013904223U;
    noise += static_cast<char>(state >> 24U);
  }
  const TemporaryFile random("random.ftg.json", noise);
  expect_refusal({"graph", random.path()}, 2, "random.ftg.json");
  const TemporaryFile empty("empty.ftg.json", "");
  expect_refusal({"graph", empty.path()}, 2, "empty.ftg.json");
}

TEST(Errors, ACyclicGraphIsRefused) {
  const TemporaryFile cyclic("cyclic.ftg.json", R"({
    "format": "foretrain-graph", "version": 1, "name": "cycle", "symbols": ["batch"],
    "tensors": [{"id": 0, "shape": ["batch", 4]}, {"id": 1, "shape": ["batch", 4]}],
    "nodes": [{"op": "relu", "inputs": [1], "outputs": [0]},
              {"op": "relu", "inputs": [0], "outputs": [1]}],
    "outputs": [1]})");
  expect_refusal({"graph", cyclic.path()}, 2, "cyclic.ftg.json");
}

// Runs the program with this file as its standard output.
Outcome run_into(int output, const std::vector<std::string>& arguments) {
  const TemporaryFile err("run_into_err", "");
  const pid_t child = fork();
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    dup2(open(err.path().c_str(), O_WRONLY), STDERR_FILENO);
    become_program(arguments, {});
  }
  close(output);
  const int code = wait_for(child);
  return {code, "", read_text(err.path())};
}

TEST(Errors, AClosedPipeIsQuiet) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const Outcome outcome = run_into(ends[1], {"devices", "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
}

TEST(Errors, AFullDiskIsAFailure) {
  const TemporaryFile steps(
      "full_steps.jsonl",
      R"({"request": {"model": "alexnet", "device": "t4", "batch": 8}, "step_time_s": 0.05})");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"devices", "--json"},
        {"fit", "--help"},
        {"fit", "calibration", "--data", steps.path(), "-o", "-"}}) {
    const Outcome outcome = run_into(open("/dev/full", O_WRONLY), arguments);
    EXPECT_EQ(outcome.code, 1) << arguments.back();
    EXPECT_NE(outcome.err.find("cannot write to standard output"), std::string::npos)
        << outcome.err;
  }
}

}  // namespace
}  // namespace foretrain::cli
