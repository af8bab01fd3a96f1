// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/inspector_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/learn/hybrid_file.h"

namespace foretrain {
namespace {

// Burst time: physics with a tree, x0 < 2 ? 1 : 3. Step time: physics with an offset.
InspectorModel made() {
  InspectorModel model;
  model.features = {"log_flops", "log_step"};
  const learn::Trees tree{0, {0}, {{0, 2, 1}, {-1, 1, 0}, {-1, 3, 0}}};
  model.targets = {{"worker.net_tx.burst_s", {1, 0.5, 0.5, tree, tree}, -0.25, 0.5, 40},
                   {"step_time_s", {1, 0.125, 1, {}, {}}, -0.125, 0.125, 30}};
  model.device = "cpu";
  model.domain = {{1, -3, 2}};
  model.confidence = 0.8;
  model.constants = "0123";
  model.calibration = {.device = "cpu", .compute = 1.5, .models = {"mlp"}};
  return model;
}

const std::string kNote = "by a test";

std::string text() { return write_inspector(made(), std::span(&kNote, 1)); }

// Why the text is refused; "" where it is not.
std::string refusal(const std::string& file) {
  try {
    read_inspector(file, "the file");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_NE(std::string(error.what()).find("the file"), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

// The file with one field changed.
template <typename Change>
std::string changed(const Change& change) {
  Json file = parse_json(text());
  change(file);
  return json_text(file);
}

TEST(InspectorModel, IsTheSameAfterAFile) {
  const InspectorModel read = read_inspector(text(), "the file");
  EXPECT_EQ(write_inspector(read, std::span(&kNote, 1)), text());
  EXPECT_EQ(read.features, made().features);
  EXPECT_EQ(read.device, "cpu");
  EXPECT_EQ(read.constants, "0123");
  EXPECT_EQ(read.confidence, 0.8);
  EXPECT_EQ(read.calibration.compute, 1.5);
  ASSERT_EQ(read.domain.size(), 1U);
  EXPECT_EQ(read.domain[0].feature, 1U);
  EXPECT_EQ(read.domain[0].least, -3);
  EXPECT_EQ(read.domain[0].most, 2);
  ASSERT_EQ(read.targets.size(), 2U);
  EXPECT_EQ(read.targets[0].name, "worker.net_tx.burst_s");
  EXPECT_EQ(read.targets[0].low, -0.25);
  EXPECT_EQ(read.targets[0].high, 0.5);
  EXPECT_EQ(read.targets[0].examples, 40U);
  // 0.5 (4 + 0.5 + 1) + 0.5 * 1.
  EXPECT_EQ(learn::evaluate(read.targets[0].model, std::vector<double>{1, 4}), 3.25);
}

TEST(InspectorModel, IsAPredictorThatBringsItsCalibration) {
  const Predictor predictor = parse_predictor(text(), "the file");
  ASSERT_TRUE(predictor.inspector);
  ASSERT_TRUE(predictor.calibration);
  EXPECT_EQ(predictor.calibration->compute, 1.5);
  EXPECT_EQ(predictor.format, kInspectorFormat);
}

TEST(InspectorModel, RefusesEveryBeginningOfItself) {
  const std::string whole = text();
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7) {
    EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  }
}

TEST(InspectorModel, RefusesOtherFilesAndVersions) {
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal(changed([](Json& file) { file["format"] = "foretrain-intervals"; })), "");
  EXPECT_NE(refusal(changed([](Json& file) { file["version"] = 1; })), "");
  EXPECT_NE(refusal(changed([](Json& file) { file["more"] = 1; })), "");
  for (const char* key :
       {"device", "constants", "confidence", "calibration", "features", "domain", "targets"}) {
    EXPECT_NE(refusal(changed([&](Json& file) { file.erase(key); })), "") << key;
    EXPECT_NE(refusal(changed([&](Json& file) { file[key] = true; })), "") << key;
  }
}

TEST(InspectorModel, RefusesNumbersThatMeanNothing) {
  const auto refuses = [](const auto& change) { return !refusal(changed(change)).empty(); };
  EXPECT_TRUE(refuses([](Json& file) { file["confidence"] = 1; }));
  EXPECT_TRUE(refuses([](Json& file) { file["confidence"] = 0; }));
  EXPECT_TRUE(refuses([](Json& file) { file["features"][0] = 3; }));
  EXPECT_TRUE(refuses([](Json& file) { file["calibration"]["compute"] = 1e9; }));
  EXPECT_TRUE(refuses([](Json& file) { file["domain"][0]["feature"] = 2; }));
  EXPECT_TRUE(refuses([](Json& file) { file["domain"][0]["feature"] = -1; }));
  EXPECT_TRUE(refuses([](Json& file) { file["domain"][0]["most"] = nullptr; }));
  EXPECT_TRUE(refuses([](Json& file) { file["targets"][0]["low"] = 1; }));  // above the high end
  EXPECT_TRUE(refuses([](Json& file) { file["targets"][0]["high"] = 1e300; }));
  EXPECT_TRUE(refuses([](Json& file) { file["targets"][0]["examples"] = -1; }));
  EXPECT_TRUE(refuses([](Json& file) { file["targets"][0]["examples"] = 1e300; }));
  EXPECT_TRUE(refuses([](Json& file) { file["targets"][0]["model"] = "%%%%"; }));
  EXPECT_TRUE(refuses([](Json& file) { file["targets"][0]["model"] = "AAAA"; }));  // 3 bytes
  EXPECT_TRUE(refuses([](Json& file) { file["targets"][0]["model"] = ""; }));
}

TEST(InspectorModel, RefusesTreesThatAreNotFinite) {
  InspectorModel model = made();
  model.targets[0].model.residual.nodes[1].value = std::nanf("");
  EXPECT_NE(refusal(write_inspector(model, {})), "");
}

TEST(InspectorModel, RefusesListsOfAbsurdLength) {
  EXPECT_NE(refusal(changed(
                [](Json& file) { file["features"] = std::vector<std::string>(10'001, "x"); })),
            "");
}

TEST(ConstantsInUse, ChangeWithEachFileOfConstants) {
  Library library = load_library();
  const std::string shipped = library.constants.text();
  EXPECT_EQ(load_library().constants.text(), shipped);
  cost::Straggling straggling = *library.straggling;
  straggling.step_variation += 0.001;
  use(library, parse_predictor(cost::write_straggling(straggling, {}), "file"));
  const std::string other = library.constants.text();
  EXPECT_NE(other, shipped);
  EXPECT_EQ(copy_of(library).constants.text(), other);
  use(library, parse_predictor(write_calibration({.device = "t4"}, {}), "file"));
  const std::string calibrated = library.constants.text();
  EXPECT_NE(calibrated, other);
  use(library, parse_predictor(write_calibration({.device = "v100"}, {}), "file"));
  EXPECT_NE(library.constants.text(), calibrated);
}

// A file takes the place of the one before it, so what counts is the last.
TEST(ConstantsInUse, AreThoseOfTheFileThatIsInUse) {
  Library library = load_library();
  cost::Straggling straggling = *library.straggling;
  straggling.step_variation = 0.5;
  const Predictor one = parse_predictor(cost::write_straggling(straggling, {}), "file");
  straggling.step_variation = 0.25;
  const Predictor two = parse_predictor(cost::write_straggling(straggling, {}), "file");
  use(library, one);
  const std::string after_one = library.constants.text();
  use(library, two);
  EXPECT_NE(library.constants.text(), after_one);
  use(library, one);
  EXPECT_EQ(library.constants.text(), after_one);
}

TEST(ConstantsInUse, AreNotChangedByIntervalsAndInspectors) {
  Library library = load_library();
  const std::string shipped = library.constants.text();
  Intervals intervals = *library.intervals;
  intervals.confidence = 0.5;
  use(library, parse_predictor(write_intervals(intervals, {}), "file"));
  use(library, parse_predictor(text(), "file"));
  EXPECT_EQ(library.constants.text(), shipped);
  EXPECT_TRUE(library.inspector);
}

}  // namespace
}  // namespace foretrain
