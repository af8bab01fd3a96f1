// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/evaluate/print.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/predict/predict.h"

namespace foretrain::evaluate {
namespace {

const char* const kMapping = R"({"variables": {"device": {"column": "gpu", "map": {"T4": "t4"}}},
  "rules": [
    {"request": {"model": "{model}", "device": "{device}", "batch": "{batch_per_gpu}"}},
    {"when": {"metric": "step_time"}, "compare": {"number": "step_time_s"}},
    {"when": {"metric": "rate"}, "compare": {"number": "samples_per_s"}},
    {"when": {"model": "yolo"}, "skip": "model not in the zoo: {model}"}]})";

Evaluation run(const measured::TestFolder& folder, const Options& options = {},
               std::vector<Case>* cases = nullptr) {
  static const Library library = load_library();
  Observer observer;
  if (cases != nullptr) observer.on_case = [cases](const Case& one) { cases->push_back(one); };
  return evaluate(folder.path(), options, library, observer);
}

std::string digits(double value) {
  std::ostringstream text;
  text << std::setprecision(12) << value;
  return text.str();
}

// A file of other columns is read where its mapping names them, else left out.
TEST(Evaluate, ReadsColumnsThatTheMappingNames) {
  const measured::TestFolder folder;
  folder.write("power.csv", "network,card,seconds\nmlp,T4,2\n");
  EXPECT_EQ(run(folder).ignored.size(), 1U);
  folder.write("power.json", R"({"columns": {"network": "model", "card": "gpu", "seconds": "value"},
    "variables": {"device": {"column": "gpu", "map": {"T4": "t4"}}},
    "rules": [{"request": {"model": "{model}", "device": "{device}"},
               "compare": {"number": "step_time_s", "scale": 0.5, "name": "step"}}]})");
  std::vector<Case> cases;
  EXPECT_TRUE(run(folder, {}, &cases).ignored.empty());
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].outcome, Outcome::Predicted);
  EXPECT_EQ(cases[0].metric, "step");
  EXPECT_EQ(cases[0].measured, 1);
}

// The prediction itself is what was "measured" once, and half of it: errors of 0 and 100 %.
TEST(Evaluate, ComparesEachRowWithItsNumber) {
  const Library library = load_library();
  const double step =
      predict(parse_request(R"({"model": "mlp", "device": "t4", "batch": 4})", "r"), library)
          .step_time_s.value;
  const measured::TestFolder folder;
  folder.write("made.json", kMapping);
  folder.write("made.csv",
               measured::kTrainingHeader +
                   measured::measurement_line("mlp", "T4", "step_time", digits(step / 2)) +
                   measured::measurement_line("mlp", "T4", "rate", digits(4 / step)));
  std::vector<Case> cases;
  const Evaluation evaluation = run(folder, {}, &cases);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_NEAR(cases[0].error, 1, 1e-6);
  EXPECT_NEAR(cases[1].error, 0, 1e-6);
  EXPECT_EQ(cases[0].line, 2U);
  EXPECT_EQ(cases[0].device, "t4");
  EXPECT_EQ(cases[0].batch, 4);
  ASSERT_EQ(evaluation.groups.size(), 2U);
  EXPECT_EQ(evaluation.groups[0].key, (std::vector<std::string>{"made", "t4", "rate"}));
}

// A host of half the speed was fitted to the rows: the plain request does not have it.
TEST(Evaluate, AsksPlainlyUnlessInformed) {
  const measured::TestFolder folder;
  folder.write("made.json", R"({"rules": [
    {"request": {"model": "mlp", "device": "t4", "host_speed": 2}, "fitted": {"host_speed": 1},
     "compare": {"number": "step_time_s"}}]})");
  folder.write("made.csv", measured::kTrainingHeader +
                               measured::measurement_line("mlp", "T4", "step_time", "1"));
  std::vector<Case> cases;
  Options options;
  run(folder, options, &cases);
  options.informed = true;
  run(folder, options, &cases);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_NE(cases[0].request.find("\"host_speed\":2"), std::string::npos) << cases[0].request;
  EXPECT_NE(cases[1].request.find("\"host_speed\":1"), std::string::npos) << cases[1].request;
  EXPECT_LT(cases[0].predicted, cases[1].predicted);
}

// A run that was measured did fit; a batch of a billion on a T4 is said not to. Its own verdict is
// compared where the row says that it did not: 1 against 1.
TEST(Evaluate, CountsRunsThatAreSaidNotToFit) {
  const measured::TestFolder folder;
  folder.write("made.json", R"({"rules": [
    {"request": {"model": "mlp", "device": "t4", "batch": 1000000000}},
    {"when": {"metric": "step_time"}, "compare": {"number": "step_time_s"}},
    {"when": {"metric": "oom"}, "compare": {"number": "does_not_fit"}}]})");
  folder.write("made.csv", measured::kTrainingHeader +
                               measured::measurement_line("mlp", "T4", "step_time", "1") +
                               measured::measurement_line("mlp", "T4", "oom", "1"));
  std::vector<Case> cases;
  const Evaluation evaluation = run(folder, {}, &cases);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_FALSE(cases[0].fits);
  EXPECT_EQ(cases[1].error, 0);
  EXPECT_EQ(evaluation.total.not_fitting, 1U);
}

// The graph lies in a folder of its own, which the mapping does not name.
TEST(Evaluate, FindsModelFilesInTheirFolder) {
  const measured::TestFolder graphs;
  graphs.write("small.ftg.json", R"({"format": "ftg", "version": 1, "name": "small",
    "tensors": [{"name": "x", "shape": ["batch", 8], "role": "input"}],
    "nodes": [], "inputs": [0], "outputs": [0]})");
  const measured::TestFolder folder;
  folder.write("made.json", R"({"rules": [{"request": {"model": "{model}.ftg.json", "device": "t4"},
    "compare": {"number": "step_time_s"}}]})");
  folder.write("made.csv", measured::kTrainingHeader +
                               measured::measurement_line("small", "T4", "step_time", "1"));
  std::vector<Case> cases;
  Options options;
  options.models = graphs.path().string();
  run(folder, options, &cases);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_NE(cases[0].request.find(options.models), std::string::npos) << cases[0].request;
}

TEST(Evaluate, CountsEverythingThatIsNotPredicted) {
  const measured::TestFolder folder;
  folder.write("made.json", kMapping);
  folder.write("made.csv", measured::kTrainingHeader +
                               measured::measurement_line("mlp", "T4", "step_time", "1") +
                               measured::measurement_line("yolo", "T4", "step_time", "1") +
                               measured::measurement_line("mlp", "K20", "step_time", "1") +
                               measured::measurement_line("mlp", "T4", "step_time", "") +
                               measured::measurement_line("mlp", "T4", "energy", "1") +
                               measured::measurement_line("mlpp", "T4", "step_time", "1"));
  folder.write("other.csv", measured::measurement("mlp", "T4", "step_time", "1"));
  folder.write("operators.csv", "op,ms\nconv,1\n");
  const Evaluation evaluation = run(folder);
  EXPECT_EQ(evaluation.total.rows, 7U);
  EXPECT_EQ(evaluation.total.predicted, 1U);
  EXPECT_EQ(evaluation.total.refused, 1U);
  std::vector<std::string> reasons;
  std::size_t rows = 0;
  for (const Reason& reason : evaluation.reasons) {
    reasons.push_back(reason.text);
    rows += reason.rows;
  }
  EXPECT_EQ(rows + evaluation.total.predicted, evaluation.total.rows);
  for (const char* expected :
       {"model not in the zoo: yolo", "device 'K20' is not in the mapping", "no value",
        "no rule for model 'mlp', metric 'energy'", "no mapping for other.csv"}) {
    EXPECT_NE(std::find(reasons.begin(), reasons.end(), expected), reasons.end()) << expected;
  }
  ASSERT_EQ(evaluation.ignored.size(), 1U);
  EXPECT_EQ(evaluation.ignored[0].file, "operators.csv");
}

TEST(Evaluate, ReadsOnlyTheSourceThatIsAsked) {
  const measured::TestFolder folder;
  folder.write("a.csv", measured::measurement("mlp", "T4", "step_time", "1"));
  folder.write("b.csv", measured::measurement("mlp", "T4", "step_time", "1") + "\n" +
                            measured::measurement_line("mlp", "T4", "step_time", "2"));
  Options options;
  options.source = "b";
  EXPECT_EQ(run(folder, options).total.rows, 2U);
  options.source = "made";
  EXPECT_EQ(run(folder, options).total.rows, 3U);
  options.source = "mede";
  try {
    run(folder, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::NotFound);
    EXPECT_EQ(std::string(error.what()), "no rows of source 'mede'; did you mean 'made'?");
  }
}

TEST(Evaluate, NamesFileAndLineOfWhatIsMalformed) {
  const measured::TestFolder folder;
  folder.write("made.csv", measured::kTrainingHeader + "cut,off\n");
  try {
    run(folder);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 22), "file made.csv, line 2:");
  }
}

TEST(Evaluate, SaysThatThereIsNothing) {
  const measured::TestFolder folder;
  EXPECT_THROW(run(folder), Error);
  const Library library = load_library();
  EXPECT_THROW(evaluate(folder.path() / "nowhere", {}, library, {}), Error);
}

TEST(Evaluate, ReportsProgressOfLargeFiles) {
  const measured::TestFolder folder;
  std::string text = measured::kTrainingHeader;
  for (int i = 0; i < 3000; ++i) text += measured::measurement_line("yolo", "T4", "step_time", "1");
  folder.write("made.json", kMapping);
  folder.write("made.csv", text);
  std::vector<double> shares;
  Observer observer;
  observer.progress = [&](double share) { shares.push_back(share); };
  const Library library = load_library();
  evaluate(folder.path() / "made.csv", {}, library, observer);
  ASSERT_GT(shares.size(), 5U);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LE(shares.back(), 1);
}

TEST(Print, WritesRowsAndTables) {
  const measured::TestFolder folder;
  folder.write("made.json", kMapping);
  folder.write("made.csv", measured::kTrainingHeader +
                               measured::measurement_line("mlp", "T4", "step_time", "1") +
                               measured::measurement_line("yolo", "T4", "step_time", "1"));
  std::vector<Case> cases;
  const Evaluation evaluation = run(folder, {}, &cases);
  const auto commas = [](const std::string& text) {
    return std::count(text.begin(), text.end(), ',');
  };
  EXPECT_EQ(commas(rows_line(cases[1])), commas(rows_header()));
  EXPECT_NE(rows_line(cases[0]).find(R"(""model"":""mlp"")"), std::string::npos);
  EXPECT_EQ(rows_line(cases[1]),
            "made,3,made,yolo,t4,,,,step_time,,,,,,,,,model not in the zoo: yolo,");
  const std::string json = to_json(evaluation);
  EXPECT_NE(json.find(R"("total":{"rows":2,"predicted":1,"refused":0,"mape_percent":)"),
            std::string::npos);
  EXPECT_NE(
      json.find(R"("unmapped":[{"file":"made","outcome":"unmapped","reason":"model not in the)"
                R"( zoo: yolo","rows":1,"first_line":3}],"ignored":[]})"),
      std::string::npos);
}

}  // namespace
}  // namespace foretrain::evaluate
