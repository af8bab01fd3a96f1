// SPDX-License-Identifier: Apache-2.0
// Every measurement here is invented.
#include "foretrain/train/fit_inspector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "foretrain/base/error.h"

namespace foretrain::train {
namespace {

// Jobs whose device alternates, with a graph's feature x in [0, 1), the predicted step and the
// predicted burst.
struct Made {
  std::deque<measured::ResourceJob> jobs;  // that the examples point to
  std::vector<InspectorExample> examples;

  // The measured burst; what physics says of it.
  void add(const std::string& model, const std::string& split, double x, double burst_s,
           double physics_s) {
    measured::ResourceJob job{.model = model, .setting = "base", .split = split};
    job.median.step_time_s = 1;
    measured::RoleUse role;
    role.of[0] = {1, 90, 10, burst_s, 0.5, 0.5};
    job.median.roles[0] = role;
    jobs.push_back(job);
    InspectorExample one{.job = &jobs.back()};
    one.features.add("x", x);
    one.features.without_physics = 1;
    one.features.add("log_step", 0);
    one.features.add("gpu_util.log_burst", std::log(physics_s));
    one.features.add("gpu_util.log_idle", std::log(0.5));
    one.features.add("gpu_util.log_amount", std::log(90));
    one.features.add("gpu_util.log_idle_amount", std::log(10));
    one.features.add("gpu_util.log_share", std::log(0.5));
    examples.push_back(one);
  }
};

enum class Physics { Exact, Noise };

// 60 architectures. Where physics is exact the burst is twice what it says; where it is noise the
// burst is 0.1 s or 1 s as x is below or above a half. The test split is `poison` times that.
Made made(Physics physics, double poison = 1) {
  Made result;
  std::mt19937 generator(1);
  const auto uniform = [&] { return static_cast<double>(generator() % 1000) / 1000; };
  for (int i = 0; i < 80; ++i) {
    const double u = uniform();
    const double x = u < 0.5 ? 0.8 * u : 0.2 + 0.8 * u;  // none near a half
    const double told = std::exp(4 * uniform() - 2);
    const double burst = physics == Physics::Exact ? 2 * told : (x < 0.5 ? 0.1 : 1);
    const bool test = i % 4 == 3;
    result.add("model" + std::to_string(i), test ? "test" : "train", x,
               test ? poison * burst : burst, told);
  }
  return result;
}

constexpr const char* kBurst = "worker.gpu_util.burst_s";

InspectorFit fast() { return {.trees = {.rounds = 60, .columns = 1}, .threads = 1}; }

std::string bytes(const InspectorModel& model) { return write_inspector(model, {}); }

std::string fitted(const Made& data, const InspectorFit& options) {
  std::vector<TargetFit> found;
  return bytes(fit_inspector(data.examples, options, found));
}

struct Outcome {
  TargetFit fit;
  InspectorTarget target;
  InspectorModel model;
};

Outcome burst_of(const Made& data, const InspectorFit& options) {
  std::vector<TargetFit> found;
  const InspectorModel model = fit_inspector(data.examples, options, found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].name == kBurst) return {found[i], model.targets.at(i), model};
  }
  throw Error(ErrorKind::NotFound, kBurst);
}

// The offset is log 2 in every fold, so nothing is left to correct.
TEST(FitInspector, TakesPhysicsWhereItIsExact) {
  const Outcome burst = burst_of(made(Physics::Exact), fast());
  EXPECT_EQ(burst.fit.form, "physics");
  EXPECT_NEAR(burst.target.model.offset, std::log(2), 1e-12);
  EXPECT_EQ(burst.target.model.weight, 1);
  EXPECT_NEAR(burst.fit.error, 0, 1e-12);
  EXPECT_NEAR(burst.target.low, 0, 1e-12);
  EXPECT_NEAR(burst.target.high, 0, 1e-12);
  EXPECT_EQ(burst.fit.examples, 60U);
}

TEST(FitInspector, TakesTreesWherePhysicsIsNoise) {
  const Outcome burst = burst_of(made(Physics::Noise), fast());
  EXPECT_EQ(burst.fit.form, "trees");
  EXPECT_LT(burst.fit.error, 0.3);
  ASSERT_TRUE(burst.fit.physics);
  EXPECT_GT(*burst.fit.physics, 2 * burst.fit.error);
  const auto told = [&](double x) {
    return std::exp(learn::evaluate(burst.target.model, std::vector<double>{x, 0, 0, 0, 0, 0, 0}));
  };
  EXPECT_NEAR(told(0.2), 0.1, 0.05);
  EXPECT_NEAR(told(0.8), 1, 0.3);
}

// Whatever the test split says, the model is the same to the last byte.
TEST(FitInspector, NeverLooksAtTheTestSplit) {
  EXPECT_EQ(fitted(made(Physics::Noise), fast()), fitted(made(Physics::Noise, 1e6), fast()));
  Made without = made(Physics::Noise);
  std::erase_if(without.examples,
                [](const InspectorExample& one) { return one.job->split == "test"; });
  EXPECT_EQ(fitted(made(Physics::Noise), fast()), fitted(without, fast()));
}

TEST(FitInspector, TheSameSeedGivesTheSameBytes) {
  InspectorFit options = fast();
  options.trees.columns = 0.5;
  const std::string one = fitted(made(Physics::Noise), options);
  EXPECT_EQ(fitted(made(Physics::Noise), options), one);
  options.trees.seed = 2;
  EXPECT_NE(fitted(made(Physics::Noise), options), one);
}

TEST(FitInspector, DoesNotDependOnTheNumberOfThreads) {
  InspectorFit options = fast();
  const std::string one = fitted(made(Physics::Noise), options);
  options.threads = 2;
  EXPECT_EQ(fitted(made(Physics::Noise), options), one);
}

TEST(FitInspector, MethodsUseWhatTheyAreAllowed) {
  InspectorFit options = fast();
  options.method = InspectorMethod::Physics;
  const Outcome physics = burst_of(made(Physics::Noise), options);
  EXPECT_EQ(physics.fit.form, "physics");
  EXPECT_TRUE(physics.target.model.absolute.nodes.empty());
  EXPECT_TRUE(physics.target.model.residual.nodes.empty());
  options.method = InspectorMethod::Trees;
  const Outcome trees = burst_of(made(Physics::Exact), options);
  EXPECT_EQ(trees.fit.form, "trees");
  EXPECT_FALSE(trees.fit.physics);
  for (const learn::TreeNode& node : trees.target.model.absolute.nodes) {
    EXPECT_LE(node.feature, 0);  // x alone
  }
  for (const char* name : {"hybrid", "physics", "trees"}) {
    EXPECT_EQ(name_of(inspector_method_named(name).value()), name);
  }
  EXPECT_FALSE(inspector_method_named("other"));
}

// Logarithms from 0 to 0.59 where physics says 0: k = floor(0.05 * 61) = 3, so the ends are the
// third difference from either side.
TEST(FitInspector, IntervalsHoldTheirShareOfTheDifferences) {
  InspectorFit options = fast();
  options.method = InspectorMethod::Physics;
  Made data;
  for (int i = 0; i < 60; ++i) {
    // Neighbours lie in other folds, so that the offset of every fold is near the middle, 0.295.
    data.add("model" + std::to_string(i), "train", 0, std::exp(i / 100.0), 1);
  }
  const Outcome burst = burst_of(data, options);
  // 0.02 - 0.295 and 0.57 - 0.295.
  EXPECT_NEAR(burst.target.low, -0.275, 0.02);
  EXPECT_NEAR(burst.target.high, 0.275, 0.02);
}

// A tenth of the range beyond either end: a step from e^0 to e^0 is nearly a point.
TEST(FitInspector, TheDomainIsWhatWasMeasured) {
  const InspectorModel model = burst_of(made(Physics::Exact), fast()).model;
  ASSERT_EQ(model.domain.size(), 1U);  // of its features only log_step is there
  EXPECT_EQ(model.features.at(model.domain[0].feature), "log_step");
  EXPECT_NEAR(model.domain[0].least, 0, 1e-5);
  EXPECT_NEAR(model.domain[0].most, 0, 1e-5);
}

// A number of 19 examples is not learned, one of 20 is.
TEST(FitInspector, NumbersOfFewExamplesAreLeftOut) {
  const auto numbers = [](int examples) {
    Made data;
    for (int i = 0; i < examples; ++i) data.add("m" + std::to_string(i), "train", 0, 1, 1);
    std::vector<TargetFit> found;
    return fit_inspector(data.examples, {.method = InspectorMethod::Physics}, found).targets.size();
  };
  EXPECT_EQ(numbers(19), 0U);
  EXPECT_EQ(numbers(20), 6U);  // the step and the device's five
}

// Half of 60 architectures; the memory used is learned beside the numbers of the device.
TEST(FitInspector, LearnsFromTheShareAskedFor) {
  Made data = made(Physics::Exact);
  for (measured::ResourceJob& job : data.jobs) job.median.roles[0]->memory_used = 4e8;
  InspectorFit options = fast();
  options.share.fraction = 0.5;
  std::vector<TargetFit> found;
  UsedShare used;
  const InspectorModel model = fit_inspector(data.examples, options, found, {}, &used);
  EXPECT_EQ(used.architectures, 30U);
  EXPECT_EQ(used.all_architectures, 60U);
  EXPECT_EQ(model.targets.back().name, "worker.memory_used");
  EXPECT_EQ(model.targets.back().examples, 30U);
  EXPECT_NEAR(learn::evaluate(model.targets.back().model, data.examples[0].features.values),
              std::log(4e8), 1e-4);
}

TEST(FitInspector, RefusesTooFewArchitectures) {
  Made data;
  for (int i = 0; i < 40; ++i) data.add("m" + std::to_string(i % 4), "train", 0, 1, 1);
  std::vector<TargetFit> found;
  try {
    fit_inspector(data.examples, fast(), found);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_NE(std::string(error.what()).find("at least 5 architectures"), std::string::npos);
  }
  InspectorFit other = fast();
  other.settings = {"elsewhere"};
  EXPECT_THROW(fit_inspector(made(Physics::Exact).examples, other, found), Error);
}

// Twenty examples of one architecture have nothing to be judged by.
TEST(FitInspector, ANumberOfOneArchitectureIsLeftOut) {
  Made data;
  for (int i = 0; i < 40; ++i) {
    data.add(i < 20 ? "m0" : "m" + std::to_string(i), "train", 0, 1, 1);
    if (i >= 20) data.jobs.back().median.roles[0]->of[0].reset();
  }
  std::vector<TargetFit> found;
  fit_inspector(data.examples, fast(), found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "step_time_s");
}

}  // namespace
}  // namespace foretrain::train
