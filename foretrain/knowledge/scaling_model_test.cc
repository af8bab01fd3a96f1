// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/scaling_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/knowledge/library.h"

namespace foretrain {
namespace {

// 2 + 0.5 samples / workers seconds; the second workload twice what operators say.
ScalingModel made() {
  ScalingModel model{.time = TimeOf::Epoch,
                     .variables = {"samples", "workers"},
                     .with_operators = true,
                     .constants = "0123"};
  ScalingWorkload ernest{.model = "resnet50", .method = "ernest"};
  ernest.form.map.features = {{{0, learn::TermKind::Raw}, {1, learn::TermKind::Inverse}}};
  ernest.form.regressor = learn::LinearModel{2, {0.5}};
  ernest.domain = {{100, 1000}, {1, 8}};
  ernest.low = -0.1;
  ernest.high = 0.25;
  ScalingWorkload ratio = ernest;
  ratio.model = "bert-base";
  ratio.form = {.map = {},
                .regressor = learn::LinearModel{std::log(2.0), {}},
                .log_time = true,
                .on_operators = true};
  ratio.low.reset();
  ratio.high.reset();
  model.workloads = {ernest, ratio};
  return model;
}

std::string text() { return write_scaling(made(), {}); }

std::string refusal(const std::string& file) {
  try {
    read_scaling(file, "the file");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "";
}

TEST(ScalingModel, IsTheSameAfterAFile) {
  const ScalingModel read = read_scaling(text(), "the file");
  EXPECT_EQ(write_scaling(read, {}), text());
  EXPECT_EQ(read.time, TimeOf::Epoch);
  EXPECT_EQ(read.workloads[0].domain[1].most, 8);
  EXPECT_EQ(read.workloads[1].low, std::nullopt);
}

// 2 + 0.5 x 800 / 4 = 102 s; twice 30 s are 60 s.
TEST(ScalingModel, TellsTimes) {
  const ScalingModel model = read_scaling(text(), "the file");
  const std::vector<double> values{800, 4, 30};
  EXPECT_DOUBLE_EQ(time_s(model.workloads[0].form, values), 102);
  EXPECT_NEAR(time_s(model.workloads[1].form, values), 60, 1e-9);
}

// infinity less infinity
TEST(ScalingModel, TellsNoTimeWhereTheSumIsNone) {
  ScalingForm form;
  form.map.features = {{{0, learn::TermKind::Raw}}, {{0, learn::TermKind::Raw}}};
  form.regressor = learn::LinearModel{0, {1e308, -1e308}};
  EXPECT_TRUE(std::isinf(time_s(form, std::vector<double>{800})));
}

TEST(ScalingModel, IsAPredictorThatRestsOnConstantsButIsNone) {
  Library library = load_library();
  const std::string shipped = library.constants.text();
  use(library, parse_predictor(text(), "file"));
  ASSERT_TRUE(library.scaling);
  EXPECT_EQ(library.scaling->workloads.size(), 2U);
  EXPECT_EQ(library.constants.text(), shipped);
}

TEST(ScalingModel, RefusesWhatIsDamaged) {
  const auto changed = [](const char* from, const char* to) {
    std::string file = text();
    const std::size_t at = file.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return file.replace(at, std::string_view(from).size(), to);
  };
  EXPECT_NE(refusal(changed("0.25", "0.35")).find("checksum"), std::string::npos);
  EXPECT_NE(refusal(changed("\"epoch\"", "\"week\"")).find("'time'"), std::string::npos);
  EXPECT_NE(refusal(changed("\"version\": 1", "\"version\": 9")).find("version"),
            std::string::npos);
  EXPECT_NE(refusal(changed("\"samples\",", "\"sample\",")).find("'variables'"), std::string::npos);
  EXPECT_NE(refusal(text().substr(0, 300)), "");
}

// A file whose sum is right and whose content makes no sense.
TEST(ScalingModel, RefusesWhatCannotBe) {
  ScalingModel model = made();
  model.workloads[0].domain = {{100, 1000}};
  EXPECT_NE(refusal(write_scaling(model, {})).find("'domain'"), std::string::npos);
  model = made();
  model.workloads[0].low = 2;
  EXPECT_NE(refusal(write_scaling(model, {})).find("interval"), std::string::npos);
  model = made();
  model.workloads[1].form.log_time = false;
  EXPECT_NE(refusal(write_scaling(model, {})).find("'on_operators'"), std::string::npos);
  model = made();
  model.workloads[0].form.regressor = learn::LinearModel{2, {}};
  EXPECT_NE(refusal(write_scaling(model, {})).find("features"), std::string::npos);
}

}  // namespace
}  // namespace foretrain
