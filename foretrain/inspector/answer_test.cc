// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/inspector/question_features.h"
#include "foretrain/inspector/test_jobs.h"
#include "foretrain/operators/answer.h"

namespace foretrain::inspector {
namespace {

Features features_of(const Job& job, Role role) {
  const auto replayed = replay(curves_of(job.stages, job.resolved, role));
  return question_features(Question(job.resolved, job.library), role, replayed);
}

std::size_t place_of(const Features& features, std::string_view name) {
  return static_cast<std::size_t>(std::find(features.names.begin(), features.names.end(), name) -
                                  features.names.begin());
}

// Twice what physics says of every number, half and double of that as ends.
InspectorModel twice_physics(const Features& features) {
  InspectorModel model;
  model.features = features.names;
  model.device = "cpu";
  const auto add = [&](std::string_view name, std::string_view physics) {
    const learn::Hybrid twice{place_of(features, physics), std::log(2), 1, {}, {}};
    model.targets.push_back({std::string(name), twice, -std::log(2), std::log(2), 20});
  };
  add(kStepTime, kStepFeature);
  add(resource::memory_used_name(Role::Worker), kMemoryFeature);
  for (const resource::UseName& use : resource::use_names()) add(use.name, physics_feature(use));
  return model;
}

std::optional<Answer> ask(Job& job, const InspectorModel& model) {
  job.resolved.inspector = std::make_shared<const InspectorModel>(model);
  return InspectorEngine().answer(Question(job.resolved, job.library));
}

const Estimate* find(const Answer& answer, std::string_view name) {
  for (const Target& target : answer.targets) {
    if (target.name == name) return &target.estimate;
  }
  return nullptr;
}

class InspectorAnswer : public testing::Test {
 protected:
  Job job_{job_of("resnet18-cifar")};
  Features features_ = features_of(job_, Role::Worker);
  InspectorModel model_ = twice_physics(features_);

  double physics(std::string_view name) const {
    return std::exp(features_.values.at(place_of(features_, name)));
  }
};

TEST_F(InspectorAnswer, WithoutTreesIsPhysicsTimesItsFactor) {
  const std::optional<Answer> answer = ask(job_, model_);
  ASSERT_TRUE(answer);
  const Estimate* step = find(*answer, "step_time_s");
  ASSERT_NE(step, nullptr);
  EXPECT_NEAR(step->value, 2 * job_.stages.timeline.end.count(), 1e-12);
  EXPECT_NEAR(*step->low, job_.stages.timeline.end.count(), 1e-12);
  EXPECT_NEAR(*step->high, 4 * job_.stages.timeline.end.count(), 1e-12);
  EXPECT_EQ(*step->confidence, 0.9);
  const double peak = operators::detail_of(Question(job_.resolved, job_.library)).memory.peak;
  const Estimate* memory = find(*answer, "resources.worker.memory_used");
  ASSERT_NE(memory, nullptr);
  EXPECT_NEAR(memory->value / peak, 2, 1e-12);
  const Estimate* burst = find(*answer, "resources.worker.gpu_util.burst_s");
  ASSERT_NE(burst, nullptr);
  EXPECT_NEAR(burst->value / physics("gpu_util.log_burst"), 2, 1e-12);
  EXPECT_EQ(find(*answer, "resources.server.gpu_util.burst_s"), nullptr);  // there is none
}

// Twice a device that is busier than half would be more than all of it.
TEST_F(InspectorAnswer, SharesAreAtMostAll) {
  const std::optional<Answer> answer = ask(job_, model_);
  ASSERT_TRUE(answer);
  ASSERT_GT(physics("gpu_util.log_amount"), 50);
  const Estimate* amount = find(*answer, "resources.worker.gpu_util.burst_amount");
  ASSERT_NE(amount, nullptr);
  EXPECT_EQ(amount->value, 100);
  EXPECT_EQ(*amount->high, 100);
  EXPECT_NEAR(*amount->low, physics("gpu_util.log_amount"), 1e-9);
  const Estimate* share = find(*answer, "resources.worker.gpu_util.burst_share");
  ASSERT_NE(share, nullptr);
  EXPECT_LE(*share->high, 1);
}

TEST_F(InspectorAnswer, IsNothingOutsideOfTheDomain) {
  const std::size_t step = place_of(features_, kStepFeature);
  const double value = features_.values[step];
  model_.domain = {{step, value - 1, value + 1}};
  EXPECT_TRUE(ask(job_, model_));
  model_.domain.push_back({place_of(features_, "workers"), 3, 4});
  EXPECT_FALSE(ask(job_, model_));
}

TEST_F(InspectorAnswer, IsNothingWithoutAnInspector) {
  EXPECT_FALSE(InspectorEngine().answer(Question(job_.resolved, job_.library)));
}

TEST_F(InspectorAnswer, IsNothingForInferenceAndOtherDevices) {
  Job inference(job_of("resnet18-cifar", R"(, "mode": "inference")"));
  EXPECT_FALSE(ask(inference, model_));
  Job gpu(R"({"model": "resnet18-cifar", "device": "t4", "batch": 4})");
  EXPECT_FALSE(ask(gpu, model_));
  model_.device = "t4";
  EXPECT_TRUE(ask(gpu, model_));
  EXPECT_FALSE(ask(job_, model_));
}

TEST_F(InspectorAnswer, OfParameterServersHasBothRoles) {
  Job servers(job_of("resnet18-cifar", kServers));
  const std::optional<Answer> answer = ask(servers, model_);
  ASSERT_TRUE(answer);
  const auto of_role = [&](std::string_view role) {
    return std::any_of(answer->targets.begin(), answer->targets.end(), [&](const Target& target) {
      return target.name.starts_with(std::string("resources.") + std::string(role));
    });
  };
  EXPECT_TRUE(of_role("worker"));
  EXPECT_TRUE(of_role("server"));
}

TEST_F(InspectorAnswer, LeavesOutWhatIsNotFinite) {
  model_.targets[0].model.offset = 1e6;
  const std::optional<Answer> answer = ask(job_, model_);
  ASSERT_TRUE(answer);
  EXPECT_EQ(find(*answer, "step_time_s"), nullptr);
  EXPECT_NE(find(*answer, "resources.worker.gpu_util.burst_s"), nullptr);
  model_.targets[0].model.offset = -1e6;  // a step of 0 s
  EXPECT_EQ(find(*ask(job_, model_), "step_time_s"), nullptr);
}

TEST_F(InspectorAnswer, RefusesAModelOfOtherFeatures) {
  model_.features[0] = "other";
  EXPECT_THROW(ask(job_, model_), Error);
}

// `make predictors` fits it anew where this fails.
TEST(ShippedInspector, FitsTheConstantsInUse) {
  const Job job(job_of("resnet110-cifar", R"(, "predictors": ["data/inspectors/lab.json"])"));
  const Question question(job.resolved, job.library);
  const std::optional<Answer> answer = InspectorEngine().answer(question);
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->targets.size(), 12U);
}

}  // namespace
}  // namespace foretrain::inspector
