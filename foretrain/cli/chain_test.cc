// SPDX-License-Identifier: Apache-2.0
// From a run to a prediction, as docs/run_to_prediction.md shows it: jobs are profiled and stored,
// another store imports them, they calibrate the machine, and the store is held against predictions
// with and without that.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

namespace fs = std::filesystem;

// Multiplies and adds in plain Python, so much per step, and writes the line that StepRecorder
// writes. Its own CPU time counts, of its fastest step: what else the machine does decides nothing.
constexpr const char* kJob = R"(
import json, sys, time
request, amount, output = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
times = []
for step in range(8):
    begin = time.process_time()
    total = 0.0
    for i in range(amount):
        total = total * 0.5 + 1.0
    times.append(time.process_time() - begin)
with open(output, "a") as file:
    line = {"request": request, "step_time_s": min(times), "steps": len(times)}
    file.write(json.dumps(line) + "\n")
)";

class Chain : public ::testing::Test {
 protected:
  Chain() {
    std::string name = fs::temp_directory_path() / "foretrain-chain-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Chain() override { fs::remove_all(folder_); }

  std::string at(const char* name) const { return folder_ / name; }

  // Runs `arguments`, which must succeed, and returns what was said.
  static std::string said(const std::vector<std::string>& arguments) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }

  // A network of one layer of `width` squared weights: its work, and the job's, goes with that.
  static std::string request(int width) {
    return R"({"model":"mlp:hidden=)" + std::to_string(width) +
           R"(","device":"cpu:cores=1","batch":64})";
  }

  void profile(int width, int amount) const {
    said({"profile", "--store", at("my.db"), "--steps", at("steps.jsonl"), "--", "python3", "-c",
          kJob, request(width), std::to_string(amount), at("steps.jsonl")});
  }

  // Mean absolute error of what `evaluate` scores, in percent, and of how many rows.
  static double error_of(const std::vector<std::string>& arguments, std::size_t rows) {
    const Json total = parse_json(said(arguments)).at("total");
    EXPECT_EQ(total.at("predicted"), rows);
    return total.at("mape_percent").get<double>();
  }

  fs::path folder_;
};

// Plain Python takes several times as long as PyTorch would for this network, so predictions are
// far off at first. The first job alone calibrates; the second has 2.8 times the weights (784 x
// 1024 + 1024 x 1024 + 10 x 1024 against 784 x 512 + ...) and as many times the work, and is
// scored.
TEST_F(Chain, ARunCalibratesThePredictionOfAnother) {
  profile(512, 400'000);
  profile(1024, 1'120'000);
  said({"store", "export", "--store", at("my.db"), "-o", at("out")});
  said({"store", "import", "--store", at("all.db"), at("out")});
  const Json runs = parse_json(said({"store", "ls", "--store", at("all.db"), "--runs", "--json"}));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(parse_json(runs[0].at("request").get<std::string>()), parse_json(request(512)));
  EXPECT_GT(runs[0].at("step_median_s").get<double>(), 0);
  const Json shown = parse_json(said({"store", "show", "--store", at("all.db"), "1", "--json"}));
  EXPECT_FALSE(shown.at("metrics").empty());

  said({"fit", "calibration", "--data", at("all.db"), "--runs", "1", "--usual", "5", "-o",
        at("mine.json")});
  const Json report =
      parse_json(said({"predict", "mlp:hidden=512", "--device", "cpu:cores=1", "--batch", "64",
                       "--predictors", at("mine.json"), "--json"}));
  const double measured_s = runs[0].at("step_median_s").get<double>();
  EXPECT_NEAR(report.at("step_time_s").at("value").get<double>() / measured_s, 1, 0.2);

  const double before = error_of({"evaluate", "--data", at("all.db"), "--json"}, 2);
  const double after =
      error_of({"evaluate", "--data", at("all.db"), "--predictor", at("mine.json"), "--json"}, 1);
  EXPECT_LT(after, before / 2);
}

// What the store exports is read like the store, and comes back byte for byte.
TEST_F(Chain, AnExportIsReadLikeTheStoreAndComesBack) {
  profile(512, 2'000);
  said({"store", "export", "--store", at("my.db"), "-o", at("out")});
  said({"store", "import", "--store", at("copy.db"), at("out")});
  said({"store", "export", "--store", at("copy.db"), "-o", at("again")});
  for (const fs::directory_entry& file : fs::directory_iterator(folder_ / "out")) {
    EXPECT_EQ(read_text(file.path()), read_text(folder_ / "again" / file.path().filename()));
  }
  EXPECT_EQ(said({"evaluate", "--data", at("my.db"), "--json"}),
            said({"evaluate", "--data", at("out"), "--json"}));
}

// A file that grows is imported again without its old lines twice.
TEST_F(Chain, StepsGoIntoTheStoreWithoutAProfile) {
  profile(512, 2'000);
  profile(512, 2'000);
  said({"store", "import", "--store", at("steps.db"), at("steps.jsonl")});
  profile(1024, 2'000);
  const std::string again =
      said({"store", "import", "--store", at("steps.db"), at("steps.jsonl"), "--json"});
  EXPECT_EQ(parse_json(again)[0].at("rows"), 1);
  EXPECT_EQ(parse_json(again)[0].at("skipped"), 2);
  // What a store gives has six digits, as its export has.
  EXPECT_NEAR(error_of({"evaluate", "--data", at("steps.db"), "--json"}, 3) /
                  error_of({"evaluate", "--data", at("steps.jsonl"), "--json"}, 3),
              1, 1e-4);
}

TEST_F(Chain, AJobThatFailsOrSaysNothingIsNotStored) {
  const Outcome failed =
      run_program({"profile", "--store", at("my.db"), "--steps", at("steps.jsonl"), "--", "false"});
  EXPECT_EQ(failed.code, 1);
  const Outcome silent =
      run_program({"profile", "--store", at("my.db"), "--steps", at("steps.jsonl"), "--", "true"});
  EXPECT_EQ(silent.code, 2);
  EXPECT_NE(silent.err.find("steps.jsonl"), std::string::npos) << silent.err;
  EXPECT_EQ(run_program({"profile", "--store", at("my.db"), "--", "true"}).code, 2);
  EXPECT_EQ(said({"store", "ls", "--store", at("my.db"), "--runs", "--json"}), "[]\n");
}

}  // namespace
}  // namespace foretrain::cli
