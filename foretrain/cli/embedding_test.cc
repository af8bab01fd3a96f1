// SPDX-License-Identifier: Apache-2.0
// The embedding engine from measured steps to a report, as a user goes.
#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

const std::vector<std::string> kMeasured{"resnet18", "resnet34",     "resnet50",    "vgg11",
                                         "vgg19",    "mobilenet_v2", "densenet121", "squeezenet1_0",
                                         "alexnet",  "googlenet"};

// A step of each network takes 5 ms and a millisecond for every sample, whatever it is.
std::string steps() {
  std::string text;
  for (const std::string& model : kMeasured) {
    for (const int batch : {8, 16}) {
      const OrderedJson line{{"request", {{"model", model}, {"device", "t4"}, {"batch", batch}}},
                             {"step_time_s", 0.005 + 0.001 * batch}};
      text += json_text(line) + "\n";
    }
  }
  return text;
}

Outcome fit(const std::string& data, const std::string& model, std::vector<std::string> more) {
  std::vector<std::string> arguments{"fit",         "embedding", "--data",    data,
                                     "--leave-out", "model",     "--method",  "linear",
                                     "-o",          model,       "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

std::vector<std::string> asked(const std::string& model, const std::string& file) {
  return {"predict", model,          "--device", "t4",       "--batch",  "8",
          "--json",  "--predictors", file,       "--engine", "embedding"};
}

TEST(EmbeddingCommands, FromMeasuredStepsToAReport) {
  const TemporaryFile data("steps.jsonl", steps());
  const TemporaryFile model("embedding.json", "");
  for (const char* target : {"plain", "residual"}) {
    const Outcome fitted = fit(data.path(), model.path(), {"--target", target});
    ASSERT_EQ(fitted.code, 0) << fitted.err;
    EXPECT_NE(fitted.out.find("on families left out, by linear"), std::string::npos) << fitted.out;
    const Outcome told = run_program(asked("vgg13", model.path()));
    ASSERT_EQ(told.code, 0) << told.err;
    const Json report = parse_json(told.out, "report");
    EXPECT_EQ(report.at("engines").at("step_time_s").at("engine"), "embedding") << told.out;
    const Json& step = report.at("step_time_s");
    EXPECT_NEAR(step.at("value").get<double>(), 0.013, 0.006);
    EXPECT_LE(step.at("low").get<double>(), step.at("value").get<double>());
    EXPECT_GE(step.at("high").get<double>(), step.at("value").get<double>());
    // Nothing like a language model was measured.
    const Outcome other = run_program(asked("bert-base", model.path()));
    ASSERT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(parse_json(other.out, "report").at("engine"), "operators");
  }
}

TEST(EmbeddingCommands, TestsAreATableAndJson) {
  const TemporaryFile data("steps.jsonl", steps());
  const std::vector<std::string> tests{
      "fit",         "embedding", "--data",        data.path(), "--method", "linear",
      "--leave-out", "model",     "--folds",       "3",         "--tests",  "--json",
      "--curve",     "5",         "--chosen-only", "--ernest",  "0,1"};
  const Outcome outcome = run_program(tests);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = parse_json(outcome.out, "tests");
  EXPECT_EQ(json.at("rows"), 20);
  EXPECT_EQ(json.at("networks"), 10);
  EXPECT_EQ(json.at("folds"), 3);
  EXPECT_EQ(json.at("ways").at(0).at("way"), "plain");
  EXPECT_EQ(json.at("curve").at(0).at("networks"), 5);
  EXPECT_EQ(json.at("ernest").at(1).at("workloads"), 10);
}

TEST(EmbeddingCommands, SayWhatIsWrong) {
  const TemporaryFile data("steps.jsonl", steps());
  const Outcome nothing = run_program({"fit", "embedding", "--data", data.path()});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("-o FILE"), std::string::npos) << nothing.err;
  const Outcome method = fit(data.path(), "-", {"--method", "magic"});
  EXPECT_EQ(method.code, 2);
  const Outcome epochs = fit(data.path(), "-", {"--time", "epoch"});
  EXPECT_EQ(epochs.code, 2);
  EXPECT_NE(epochs.err.find("no measured epoch"), std::string::npos) << epochs.err;
  const Outcome engine =
      run_program({"predict", "resnet18", "--device", "t4", "--engine", "embedding"});
  EXPECT_EQ(engine.code, 2);
  EXPECT_NE(engine.err.find("foretrain fit embedding"), std::string::npos) << engine.err;
}

}  // namespace
}  // namespace foretrain::cli
