// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/answer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/operators/answer.h"
#include "foretrain/request/request.h"
#include "foretrain/scaling/values.h"

namespace foretrain::scaling {
namespace {

class Scaling : public testing::Test {
 protected:
  // A step takes 0.1 + 0.01 batch seconds, measured on 1 to 8 workers and batches of 16 to 64.
  Scaling() {
    ScalingWorkload workload{.model = "resnet18", .device = "t4", .method = "ridge"};
    workload.form.map.features = {{{1, learn::TermKind::Raw}}};
    workload.form.regressor = learn::LinearModel{0.1, {0.01}};
    workload.domain = {{1, 8}, {16, 64}};
    workload.low = std::log(0.9);
    workload.high = std::log(1.25);
    model_.variables = {"workers", "batch"};
    model_.workloads = {workload};
  }

  std::optional<Answer> ask(const std::string& request) {
    library_.scaling = std::make_shared<const ScalingModel>(model_);
    library_.constants = {};
    const Resolved resolved = resolve(parse_request(request, "test"), library_);
    return ScalingEngine().answer(Question(resolved, library_));
  }

  ScalingModel model_;
  Library library_ = load_library();
};

// 0.1 + 0.01 x 40 = 0.5 s, 0.45 to 0.625.
TEST_F(Scaling, TellsTheStepOfAKnownWorkload) {
  const auto answer = ask(R"({"model": "resnet18", "device": "t4", "workers": 4, "batch": 40})");
  ASSERT_TRUE(answer);
  const Target& step = answer->targets.at(0);
  EXPECT_EQ(step.name, "step_time_s");
  EXPECT_NEAR(step.estimate.value, 0.5, 1e-12);
  EXPECT_NEAR(step.estimate.low.value(), 0.45, 1e-12);
  EXPECT_NEAR(step.estimate.high.value(), 0.625, 1e-12);
  EXPECT_TRUE(step.inside);
}

TEST_F(Scaling, SaysWhereItWasNotMeasured) {
  const auto more = ask(R"({"model": "resnet18", "device": "t4", "workers": 16, "batch": 40})");
  ASSERT_TRUE(more);
  EXPECT_FALSE(more->targets.at(0).inside);
}

TEST_F(Scaling, DoesNotAnswerForOthers) {
  EXPECT_FALSE(ask(R"({"model": "resnet50", "device": "t4", "batch": 40})"));
  EXPECT_FALSE(ask(R"({"model": "resnet18", "device": "v100", "batch": 40})"));
  EXPECT_FALSE(ask(R"({"model": "resnet18", "device": "t4", "batch": 40, "mode": "inference"})"));
  model_.workloads[0].precision = "fp16";
  EXPECT_FALSE(ask(R"({"model": "resnet18", "device": "t4", "batch": 40})"));
  EXPECT_TRUE(ask(R"({"model": "resnet18", "device": "t4", "batch": 40, "precision": "fp16"})"));
}

// Sums that are infinite, or infinite less infinite, are no times: the step was reported as null.
TEST_F(Scaling, DoesNotAnswerWithWhatIsNoTime) {
  for (const double weight : {1e308, -1e308}) {
    model_.workloads[0].form.regressor = learn::LinearModel{1e308, {weight}};
    model_.workloads[0].form.log_time = weight > 0;
    const bool told = ask(R"({"model": "resnet18", "device": "t4", "batch": 40})").has_value();
    EXPECT_EQ(told, weight < 0) << weight;  // -inf counts as the least time
  }
  model_.workloads[0].form.map.features = {{{1, learn::TermKind::Raw}},
                                           {{1, learn::TermKind::Raw}}};
  model_.workloads[0].form.regressor = learn::LinearModel{0, {1e308, -1e308}};
  EXPECT_FALSE(ask(R"({"model": "resnet18", "device": "t4", "batch": 40})"));
}

TEST_F(Scaling, TakesAnyParametersOfAModelWithoutThem) {
  EXPECT_TRUE(ask(R"({"model": "resnet18:classes=10", "device": "t4", "batch": 40})"));
  model_.workloads[0].model = "resnet18:classes=20";
  EXPECT_FALSE(ask(R"({"model": "resnet18:classes=10", "device": "t4", "batch": 40})"));
  model_.workloads[0].model = "";
  EXPECT_TRUE(ask(R"({"model": "resnet50", "device": "t4", "batch": 40})"));
}

// An epoch of 1,000 samples on 2 workers with batches of 50 is 10 steps. 0.01 x 1000 + 0.1 s are
// 10.1 s, so a step is 1.01 s.
TEST_F(Scaling, DividesAnEpochIntoItsSteps) {
  model_.time = TimeOf::Epoch;
  model_.variables = {"workers", "samples"};
  model_.workloads[0].domain = {{1, 8}, {100, 2000}};
  const std::string job = R"({"model": "resnet18", "device": "t4", "workers": 2, "batch": 50)";
  EXPECT_FALSE(ask(job + "}"));  // how many samples is not said
  const auto answer = ask(job + R"(, "samples": 1000})");
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->targets.at(0).estimate.value, 1.01, 1e-12);
}

// exp(log 1.5) times what operators say.
TEST_F(Scaling, CorrectsTheOperatorEngine) {
  model_.with_operators = true;
  model_.workloads[0].form = {.map = {},
                              .regressor = learn::LinearModel{std::log(1.5), {}},
                              .log_time = true,
                              .on_operators = true};
  library_.scaling = std::make_shared<const ScalingModel>(model_);
  const Request request =
      parse_request(R"({"model": "resnet18", "device": "t4", "batch": 40})", "test");
  EXPECT_ANY_THROW(resolve(request, library_));  // other constants than it was fitted on
  model_.constants = library_.constants.text();
  library_.scaling = std::make_shared<const ScalingModel>(model_);
  const Resolved resolved = resolve(request, library_);
  const Question question(resolved, library_);
  const auto answer = ScalingEngine().answer(question);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->targets.at(0).estimate.value, 1.5 * operators::detail_of(question).step.value,
              1e-12);
}

}  // namespace
}  // namespace foretrain::scaling
