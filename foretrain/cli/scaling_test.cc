// SPDX-License-Identifier: Apache-2.0
// Scaling models from a table of runs to a report, designs and searches, as a user goes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "foretrain/base/csv.h"
#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

// Epochs of 2 + 0.01 samples / workers + 0.5 workers seconds: Ernest's form.
std::string epochs() {
  std::string text = "gpus,images,seconds\n";
  for (const double workers : {1, 2, 3, 4, 6, 8}) {
    for (const double samples : {1000, 2000, 4000, 8000}) {
      text += csv_line(workers, samples, 2 + 0.01 * samples / workers + 0.5 * workers);
    }
  }
  return text;
}

const std::vector<std::string> kColumns{"--columns", "time=seconds,workers=gpus,samples=images"};

Outcome fit(const std::string& data, std::vector<std::string> more) {
  std::vector<std::string> arguments{"fit", "scaling", "--data", data};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

// 3000 samples on 5 workers: 2 + 6 + 2.5 = 10.5 s.
TEST(ScalingCommands, FromATableToAReport) {
  const TemporaryFile data("epochs.csv", epochs());
  const TemporaryFile model("scaling.json", "");
  const Outcome fitted = fit(data.path(), {kColumns[0], kColumns[1], "--method", "ernest,tree",
                                           "--model", "resnet18", "-o", model.path()});
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_NE(fitted.out.find("by ernest"), std::string::npos) << fitted.out;
  const Outcome told =
      run_program({"predict", "resnet18", "--device", "t4", "--workers", "5", "--batch", "30",
                   "--samples", "3000", "--predictors", model.path(), "--json"});
  ASSERT_EQ(told.code, 0) << told.err;
  const Json report = parse_json(told.out, "report");
  EXPECT_EQ(report.at("engine"), "scaling");
  EXPECT_NEAR(report.at("epoch_time_s").at("value").get<double>(), 10.5, 0.01);
  EXPECT_TRUE(report.at("epoch_time_s").at("low").is_number());
  // Beyond what was measured others answer.
  const Outcome beyond =
      run_program({"predict", "resnet18", "--device", "t4", "--workers", "64", "--batch", "30",
                   "--samples", "3000", "--predictors", model.path(), "--json"});
  EXPECT_EQ(parse_json(beyond.out, "report").at("engine"), "operators") << beyond.err;
}

TEST(ScalingCommands, TestsAreATableAndJson) {
  const TemporaryFile data("epochs.csv", epochs());
  const Outcome outcome =
      fit(data.path(), {kColumns[0], kColumns[1], "--method", "ernest,ridge", "--tests", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = parse_json(outcome.out, "tests");
  EXPECT_EQ(json.at("tests").size(), 6U);  // two kinds of samples, workers, together
  EXPECT_LT(json.at("summary").at(0).at("methods").at("ernest").get<double>(), 1e-3);
}

// A model's name from a CSV file, which a terminal would take for a colour.
TEST(ScalingCommands, TablesShowNothingThatSpeaksToTheTerminal) {
  std::string runs = "m,t,n,s\n";
  for (const int workers : {1, 2, 3, 4, 6, 8}) {
    for (const int samples : {1000, 2000, 4000, 8000}) {
      runs += csv_line(std::string("a\x1b[31mb"), 2 + 0.01 * samples / workers, workers, samples);
    }
  }
  const TemporaryFile data("escape.csv", runs);
  for (const char* what : {"--tests", "--output=/dev/null"}) {
    const Outcome outcome = fit(data.path(), {"--columns", "model=m,time=t,workers=n,samples=s",
                                              "--method", "ernest", what});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("a\\x1b[31mb"), std::string::npos) << outcome.out;
  }
}

TEST(ScalingCommands, SayWhatIsWrong) {
  const TemporaryFile data("epochs.csv", epochs());
  const Outcome columns = fit(data.path(), {"--columns", "time=secs,workers=gpus", "-o", "-"});
  EXPECT_EQ(columns.code, 2);
  EXPECT_NE(columns.err.find("gpus, images, seconds"), std::string::npos) << columns.err;
  EXPECT_EQ(fit(data.path(), {kColumns[0], kColumns[1]}).code, 2);  // neither -o nor --tests
  EXPECT_EQ(fit(data.path(), {kColumns[0], kColumns[1], "-o", "-", "--json"}).code, 2);
  for (const char* twice : {"time=seconds,time=gpus,workers=gpus", "time=gpus,workers=gpus"}) {
    EXPECT_EQ(fit(data.path(), {"--columns", twice, "-o", "-"}).code, 2) << twice;
  }
  const Outcome none =
      fit(data.path(), {kColumns[0], kColumns[1], "--where", "gpus=99", "-o", "-"});
  EXPECT_NE(none.err.find("no row is complete and as --where says"), std::string::npos) << none.err;
  const Outcome engine =
      run_program({"predict", "resnet18", "--device", "t4", "--engine", "scaling"});
  EXPECT_EQ(engine.code, 2);
  EXPECT_NE(engine.err.find("foretrain fit scaling"), std::string::npos) << engine.err;
}

// 6000 samples on 8 workers: 2 + 7.5 + 4 = 13.5.
TEST(ScalingCommands, ForecastsAnyAmountAtAPoint) {
  const TemporaryFile data("epochs.csv", epochs());
  const Outcome told = fit(data.path(), {kColumns[0], kColumns[1], "--method", "ernest", "--at",
                                         "samples=6000,workers=8", "--json"});
  ASSERT_EQ(told.code, 0) << told.err;
  const Json one = parse_json(told.out, "forecast").at(0);
  EXPECT_NEAR(one.at("value").get<double>(), 13.5, 0.05);
  EXPECT_LE(one.at("low").get<double>(), one.at("value").get<double>());
  EXPECT_EQ(one.at("inside"), true);
  const Outcome far = fit(data.path(), {kColumns[0], kColumns[1], "--method", "ernest", "--at",
                                        "samples=6000,workers=80"});
  EXPECT_NE(far.out.find("beyond what was measured"), std::string::npos) << far.out;
  // No interval beyond what was tried, however far is asked for: 8 of 16 workers left out try 2.
  const Outcome farther =
      fit(data.path(), {kColumns[0], kColumns[1], "--method", "ernest", "--reach", "50", "--json",
                        "--at", "samples=6000,workers=400"});
  ASSERT_EQ(farther.code, 0) << farther.err;
  const Json beyond = parse_json(farther.out, "forecast").at(0);
  EXPECT_EQ(beyond.at("inside"), false);
  EXPECT_TRUE(beyond.at("low").is_null());
  for (const char* at :
       {"samples=6000", "samples=6000,workers=8,nodes=2", "samples=x,workers=8",
        "samples=nan,workers=8", "samples,workers", "samples=1,samples=2,workers=8"}) {
    EXPECT_EQ(fit(data.path(), {kColumns[0], kColumns[1], "--at", at}).code, 2) << at;
  }
}

// Epochs of 10 / cores seconds, on shares of a core, of 320 samples: 20 s at half a core.
TEST(ScalingCommands, SharesOfACoreCount) {
  std::string text = "share,seconds,batch\n";
  for (const double share : {0.2, 0.25, 0.4, 0.5, 0.8, 1.0}) {
    for (const double batch : {16, 32}) text += csv_line(share, 10 / share, batch);
  }
  const TemporaryFile data("shares.csv", text);
  const TemporaryFile model("shares.json", "");
  const Outcome fitted =
      fit(data.path(), {"--columns", "time=seconds,cores=share,batch=batch", "--time", "epoch",
                        "--method", "ridge", "-o", model.path()});
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  const Outcome told =
      run_program({"predict", "mlp", "--device", "cpu:cores=0.5", "--batch", "16", "--samples",
                   "320", "--predictors", model.path(), "--engine", "scaling", "--json"});
  ASSERT_EQ(told.code, 0) << told.err;
  const Json report = parse_json(told.out, "report");
  EXPECT_NEAR(report.at("epoch_time_s").at("value").get<double>(), 20, 1);
}

TEST(ScalingCommands, ADesignStaysWithinItsBudget) {
  const Outcome outcome =
      run_program({"design", "--workers", "1,2,4,8,16", "--budget", "0.6", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = parse_json(outcome.out, "design");
  EXPECT_LE(json.at("cost").get<double>(), 0.6 + 1e-9);
  EXPECT_GE(json.at("runs").size(), 4U);
  EXPECT_EQ(run_program({"design", "--budget", "1"}).code, 2);
}

// All eight candidates cost 4 (0.1 + 0.3) passes and 0.01 (1 + 2 + 3 + 4) for each fraction, 1.8 of
// 2: the lab makes as many whole jobs.
TEST(ScalingCommands, ADesignIsACampaign) {
  std::vector<std::string> words{"design",   "--workers", "1,2,3,4", "--fractions", "0.1,0.3",
                                 "--budget", "2",         "--model", "lstm-lm",     "--batch",
                                 "16",       "--samples", "4096",    "--campaign",  "-"};
  const Outcome written = run_program(words);
  ASSERT_EQ(written.code, 0) << written.err;
  const TemporaryFile file("campaign.json", written.out);
  const TemporaryFile store("lab.db", "");
  std::remove(store.path().c_str());
  const Outcome planned =
      run_program({"collect", file.path(), "--store", store.path(), "--dry-run", "--plain"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  EXPECT_NE(planned.out.find("8 runs in all"), std::string::npos) << planned.out;
  words[10] = "2000";  // of 410 samples
  const Outcome small = run_program(words);
  EXPECT_EQ(small.code, 2);
  EXPECT_NE(small.err.find("fewer than a batch"), std::string::npos) << small.err;
  EXPECT_EQ(run_program({"design", "--workers", "1,2", "--budget", "2", "--campaign", "-"}).code,
            2);
}

TEST(ScalingCommands, ASearchIsDrawn) {
  const TemporaryFile points("points.csv", "workers,time_s\n1,8\n2,5\n4,3\n8,4\n");
  const Outcome drawn = run_program({"search", "--table", points.path(), "--svg", "-"});
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(drawn.out.starts_with("<svg")) << drawn.out;
  EXPECT_EQ(run_program({"search", "--table", points.path(), "--svg", "-", "--json"}).code, 2);
}

// The command prints its own workers and 100 / workers: 8 are the fastest.
TEST(ScalingCommands, ASearchRunsCommandsAndGoesOn) {
  const TemporaryFile space("space.json", R"({"variables": {"workers": [1, 2, 4, 8]}})");
  const TemporaryFile history("history.csv", "");
  std::remove(history.path().c_str());
  const std::vector<std::string> search{
      "search", space.path(), "--command", "python3 -c 'print(\"time\", 100 / {workers})'",
      "--stop", "0",          "--history", history.path(),
      "--json"};
  std::vector<std::string> two = search;
  two.insert(two.end(), {"--most", "2"});
  const Outcome begun = run_program(two);
  ASSERT_EQ(begun.code, 0) << begun.err;
  EXPECT_EQ(parse_json(begun.out, "search").at("runs"), 2);
  const std::string before = read_text(history.path());
  const Outcome whole = run_program(search);
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Json json = parse_json(whole.out, "search");
  EXPECT_EQ(json.at("runs"), 4);
  EXPECT_EQ(json.at("best").at("workers"), "8");
  EXPECT_NEAR(json.at("best").at("time_s").get<double>(), 12.5, 1e-9);
  EXPECT_TRUE(read_text(history.path()).starts_with(before));
  const Outcome unknown =
      run_program({"search", space.path(), "--command", "echo {gpus}", "--json"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("workers"), std::string::npos) << unknown.err;
  const Outcome missing = run_program({"search", space.path(), "--command", "no-such-program 1"});
  EXPECT_EQ(missing.code, 2) << missing.out;
}

// A command has ended though what it started holds its output: the search waited for a day. One
// that closes its output and stays has failed after --patience: it was waited for without end.
TEST(ScalingCommands, ASearchWaitsForTheCommandAlone) {
  const TemporaryFile space("space.json", R"({"variables": {"w": [1]}})");
  const auto start = std::chrono::steady_clock::now();
  const Outcome left = run_program(
      {"search", space.path(), "--command", "sh -c 'sleep 100 2>&- & echo 3'", "--patience", "60"});
  EXPECT_NE(left.out.find("w=1, 3 s"), std::string::npos) << left.out << left.err;
  const Outcome silent = run_program({"search", space.path(), "--command",
                                      "sh -c 'echo 3; exec sleep 100 >&-'", "--patience", "0.2"});
  EXPECT_EQ(silent.code, 1);
  EXPECT_EQ(silent.err, "foretrain: none of 1 runs succeeded\n") << silent.out;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

// Each crashed, or went on with what is no number.
TEST(ScalingCommands, ASearchRefusesTimesAndPricesThatAreNone) {
  const TemporaryFile space("space.json", R"({"variables": {"w": [1, 2, "x", 4, 0]}})");
  const Outcome price =
      run_program({"search", space.path(), "--command", "echo 1", "--price", "w"});
  EXPECT_EQ(price.code, 2);
  EXPECT_NE(price.err.find("no price"), std::string::npos) << price.err;
  for (const char* time : {"-5", "abc", "0", "nan", "1e308"}) {
    const TemporaryFile history(
        "history.csv",
        std::string("w,time_s,expected_gain,goal,best_goal\n1,") + time + ",,,\n2,,,,\n");
    const Outcome outcome =
        run_program({"search", space.path(), "--command", "echo 1", "--history", history.path()});
    EXPECT_EQ(outcome.code, 2) << time;
    EXPECT_NE(outcome.err.find("line 2"), std::string::npos) << outcome.err;
  }
}

// A run may take hours: that it cannot be kept is said before it is made.
TEST(ScalingCommands, ASearchOpensItsHistoryFirst) {
  const TemporaryFile space("space.json", R"({"variables": {"w": [1, 2]}})");
  const TemporaryFile made("made", "");
  std::remove(made.path().c_str());
  const Outcome outcome = run_program({"search", space.path(), "--command", "touch " + made.path(),
                                       "--history", "/no/such/folder/h.csv"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(std::filesystem::exists(made.path()));
}

TEST(ScalingCommands, ASearchShowsNothingThatSpeaksToTheTerminal) {
  const TemporaryFile space("space.json", R"({"variables": {"w": ["\u001b]0;x\u0007", "b"]}})");
  const Outcome outcome = run_program({"search", space.path(), "--command", "echo 1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ((outcome.out + outcome.err).find('\x1b'), std::string::npos);
}

TEST(ScalingCommands, FitsRefuseTimesBeyondAllBounds) {
  for (const char* value : {"1e300", "1e-300"}) {
    const TemporaryFile data("runs.csv", epochs() + "9," + value + ",3\n");
    const Outcome outcome = fit(data.path(), {kColumns[0], kColumns[1], "-o", "-"});
    EXPECT_EQ(outcome.code, 2) << value;
    EXPECT_NE(outcome.err.find("1e-12 to 1e12"), std::string::npos) << outcome.err;
  }
}

// 1 was measured twice, 5 s and 7 s: nobody guesses that its 6 s are a mean.
TEST(SearchCommand, SaysThatEqualPointsAreAveraged) {
  const TemporaryFile twice("twice.csv", "w,time_s\n1,5\n1,7\n2,3\n");
  const Outcome text = run_program({"search", "--table", twice.path()});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("3 rows of 2 points: the time of a point is the mean of its rows"),
            std::string::npos)
      << text.out;
  const Outcome json = run_program({"search", "--table", twice.path(), "--json"});
  EXPECT_NE(json.out.find(R"("points":2,"rows":3)"), std::string::npos) << json.out;
  const TemporaryFile once("once.csv", "w,time_s\n1,5\n2,3\n");
  const Outcome single = run_program({"search", "--table", once.path()});
  EXPECT_EQ(single.out.find("rows of"), std::string::npos) << single.out;
}

// `fit ... -o scaling.json >&-`: the file that was opened next got the number of standard output,
// and the table of errors with it.
TEST(ScalingCommands, WhatAClosedOutputIsToldIsNotWrittenIntoTheFile) {
  const TemporaryFile data("epochs.csv", epochs());
  const TemporaryFile model("scaling.json", "");
  const std::vector<std::string> arguments{"fit",       "scaling",   "--data",   data.path(),
                                           kColumns[0], kColumns[1], "--method", "ernest",
                                           "-o",        model.path()};
  ASSERT_EQ(run_program(arguments).code, 0);
  const std::string whole = read_text(model.path());
  const pid_t child = fork();
  if (child == 0) {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(descriptor);
    become_program(arguments, {});
  }
  EXPECT_EQ(wait_for(child), 1);  // its output could not be written
  EXPECT_EQ(read_text(model.path()), whole);
}

TEST(ScalingCommands, ASearchOfATableTakesItsRows) {
  const TemporaryFile points("points.csv", "a,b,t\n1,x,5\n2,x,3\n2,x,5\n1,y,9\n");
  const Outcome outcome =
      run_program({"search", "--table", points.path(), "--goal", "t", "--stop", "0", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = parse_json(outcome.out, "search");
  EXPECT_EQ(json.at("points"), 3);
  EXPECT_EQ(json.at("best").at("a"), "2");
  EXPECT_EQ(json.at("best").at("time_s"), 4);  // the mean of 3 and 5
}

}  // namespace
}  // namespace foretrain::cli
