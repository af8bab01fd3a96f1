// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "foretrain/base/error.h"
#include "foretrain/inspector/answer.h"
#include "foretrain/request/request.h"
#include "foretrain/train/transfer_inspector.h"

namespace foretrain::train {
namespace {

using measured::ResourceJob;
using resource::Resource;
using resource::Role;

std::string request_of(int seed) {
  return R"({"model": "random:family=cnn,seed=)" + std::to_string(seed) +
         R"(,image=32,classes=10", "device": "cpu:cores=1", "workers": 2, "workers_per_node": 1,
             "network": "1gbps", "batch": 8})";
}

// Jobs whose device bursts are longer the more their seeds are.
std::vector<ResourceJob> jobs(const std::string& setting, double factor) {
  std::vector<ResourceJob> result;
  for (int seed = 1; seed <= 12; ++seed) {
    ResourceJob job{.model = "cnn" + std::to_string(seed), .setting = setting, .split = "train"};
    job.request = request_of(seed);
    job.median.step_time_s = 0.1;
    measured::RoleUse use;
    for (auto& one : use.of) {
      one = measured::ResourceUse{.alternating = 1,
                                  .amount = 50,
                                  .idle_amount = 1,
                                  .burst_s = factor * 0.01 * (seed + 4),
                                  .idle_s = 0.05,
                                  .burst_share = 0.5};
    }
    job.median.roles[index_of(Role::Worker)] = use;
    job.repeats = {job.median};
    result.push_back(std::move(job));
  }
  return result;
}

NetworkFit quick() {
  NetworkFit fit = driple_fit();
  fit.grouping.groups = 6;
  fit.shape = learn::driple_shape(6);
  fit.shape.width = 8;
  fit.train.most_epochs = 8;
  fit.folds = 4;
  return fit;
}

struct Fitted {
  Library library = load_library();
  std::vector<ResourceJob> jobs_of_a = jobs("a", 1);
  std::vector<InspectorExample> examples;
  NetworkReport report;
  InspectorModel model;
};

Fitted fitted(NetworkFit fit) {
  Fitted result;
  result.examples = inspector_examples(result.jobs_of_a, result.library, 1, fit.grouping);
  result.model = fit_network(result.examples, fit, result.report);
  result.model.device = "cpu";
  result.model.constants = result.library.constants.text();
  return result;
}

// 12 architectures in 4 folds: 6 are trained on, 3 are for validation, 3 for intervals.
TEST(FitNetwork, TrainsOnAllFoldsButTwo) {
  const Fitted result = fitted(quick());
  EXPECT_EQ(result.report.architectures, 6U);
  EXPECT_EQ(result.report.used.architectures, 12U);
  EXPECT_EQ(result.report.epochs, 8U);
  ASSERT_TRUE(result.model.network);
  EXPECT_EQ(result.model.network->outputs.size(), 12U);
  // The largest burst trained on, of seed 12: 0.01 (12 + 4) s.
  EXPECT_NEAR(result.model.network->outputs[1].scale, 0.16, 1e-9);
}

// What intervals are found by takes no part in training: other numbers there give the same network
// with other intervals.
TEST(FitNetwork, IntervalsAreOfAFoldOfTheirOwn) {
  const NetworkFit fit = quick();
  Fitted one = fitted(fit);
  // The second architecture of every four is in the fold for intervals.
  for (std::size_t i = 1; i < one.jobs_of_a.size(); i += 4) {
    for (auto& use : one.jobs_of_a[i].median.roles[index_of(Role::Worker)]->of) *use->idle_s *= 100;
  }
  NetworkReport report;
  const InspectorModel other = fit_network(one.examples, fit, report);
  const auto& before = one.model.network->network.parameters;
  const auto& after = other.network->network.parameters;
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].matrix.values, after[i].matrix.values) << before[i].name;
  }
  EXPECT_GT(other.network->outputs[2].high,
            one.model.network->outputs[2].high + 1);  // log 100: 4.6
}

TEST(FitNetwork, NeedsThreeFolds) {
  NetworkFit fit = quick();
  fit.folds = 2;
  EXPECT_THROW(fitted(fit), Error);
}

// The file, read back, answers what training evaluated.
TEST(FitNetwork, TheEngineAnswersWhatTrainingEvaluated) {
  for (const NodeFeatures nodes : {NodeFeatures::Driple, NodeFeatures::Physics}) {
    NetworkFit fit = quick();
    fit.nodes = nodes;
    fit.shape.leaky_outputs = nodes == NodeFeatures::Driple;
    const Fitted result = fitted(fit);
    Library library = copy_of(result.library);
    library.inspector = std::make_shared<const InspectorModel>(
        read_inspector(write_inspector(result.model, {}), "file"));
    const InspectorExample& example = result.examples.front();
    const InspectorNetwork& network = *result.model.network;
    const learn::GraphInput input =
        inspector::network_input(*example.groups, example.features, network);
    const std::vector<double> logs = inspector::log_numbers(
        network, example.features, learn::evaluate(network.network, {&input}, 1).values);
    const Resolved resolved = resolve(parse_request(example.job->request, "request"), library);
    const auto answer = inspector::InspectorEngine().answer({resolved, library});
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->targets.empty());
    std::size_t compared = 0;
    for (const Target& target : answer->targets) {
      EXPECT_LE(target.estimate.low, target.estimate.value);
      EXPECT_GE(target.estimate.high, target.estimate.value);
      for (std::size_t i = 0; i < logs.size(); ++i) {
        if (target.name != "resources." + network.outputs[i].name) continue;
        EXPECT_NEAR(std::log(target.estimate.value), logs[i], 1e-5) << target.name;
        ++compared;
      }
    }
    EXPECT_EQ(compared, answer->targets.size());
  }
}

TEST(FitNetwork, GoesOnFromItsCheckpoint) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "fit_network_checkpoint.json";
  std::filesystem::remove(file);
  NetworkFit fit = quick();
  fit.checkpoint = file;
  fit.train.most_epochs = 4;
  fitted(fit);
  fit.train.most_epochs = 8;
  const Fitted resumed = fitted(fit);
  const Fitted straight = fitted(quick());
  EXPECT_EQ(write_inspector(resumed.model, {}), write_inspector(straight.model, {}));
  fit.shape.width = 4;
  EXPECT_THROW(fitted(fit), Error);
  std::filesystem::remove(file);
}

// What a network learned of one setting is where another begins: only the dense layers change.
TEST(TransferInspector, TrainsThePartitionOfANetwork) {
  const Fitted base = fitted(quick());
  const std::vector<ResourceJob> others = jobs("b", 2);
  const auto examples = inspector_examples(others, base.library, 1, base.model.network->grouping);
  TransferFit options{
      .setting = "b", .share = {.fraction = 0.5}, .folds = 3, .partition = Partition::Mlp};
  options.train.most_epochs = 5;
  TransferReport report;
  const InspectorModel model = transfer_inspector(base.model, examples, options, report);
  EXPECT_EQ(report.used.architectures, 6U);  // half of 12
  EXPECT_EQ(report.network.epochs, 5U);
  const auto& before = base.model.network->network.parameters;
  const auto& after = model.network->network.parameters;
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool same = before[i].matrix.values == after[i].matrix.values;
    EXPECT_EQ(same, !before[i].name.starts_with("dense")) << before[i].name;
  }
}

// Every architecture has one job here; a larger share holds the smaller one.
TEST(TransferInspector, DrawsJobsByTheSeed) {
  const Library library = load_library();
  const std::vector<ResourceJob> others = jobs("b", 2);
  const auto examples = inspector_examples(others, library, 1);
  InspectorModel base;
  base.features = examples.front().features.names;
  TransferReport report;
  transfer_inspector(base, examples, {.setting = "b", .share = {.jobs = 7}}, report);
  EXPECT_EQ(report.used.architectures, 7U);
  EXPECT_EQ(report.used.jobs, 7U);
  EXPECT_EQ(report.used.all_jobs, 12U);
  try {
    transfer_inspector(base, examples, {.setting = "b", .share = {.jobs = 4}}, report);
    FAIL() << "4 jobs in 5 folds";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("fewer folds"), std::string::npos) << error.what();
  }
}

// Bursts are twice as long in the new setting: the offset grows by log 2, trees have nothing to
// add.
TEST(TransferInspector, GivesTreesANewOffset) {
  const Library library = load_library();
  const std::vector<ResourceJob> others = jobs("b", 2);
  const auto examples = inspector_examples(others, library, 1);
  InspectorModel base;
  base.features = examples.front().features.names;
  // The base says 50 of an amount that is 50, and 0.025 s of an idle that lasts 0.05 s.
  const float right = std::log(50.0F);
  const float half = std::log(0.025F);
  base.targets = {{.name = "worker.gpu_util.burst_amount", .model = {.absolute = {.base = right}}},
                  {.name = "worker.gpu_util.idle_s", .model = {.absolute = {.base = half}}}};
  TransferReport report;
  const InspectorModel model = transfer_inspector(base, examples, {.setting = "b"}, report);
  const std::vector<double>& features = examples.front().features.values;
  EXPECT_NEAR(learn::evaluate(model.targets[0].model, features), std::log(50.0), 1e-5);
  EXPECT_NEAR(learn::evaluate(model.targets[1].model, features), std::log(0.05), 1e-5);
  EXPECT_THROW(transfer_inspector(base, examples, {.setting = "c"}, report), Error);
}

// The base knows steps of 1 s to 10 s; the setting's jobs have shorter ones. Both are inside then.
TEST(TransferInspector, KeepsTheDomainOfTheBase) {
  const Library library = load_library();
  const std::vector<ResourceJob> others = jobs("b", 2);
  const auto examples = inspector_examples(others, library, 1);
  InspectorModel base;
  base.features = examples.front().features.names;
  const auto step = std::find(base.features.begin(), base.features.end(), "log_step");
  const auto place = static_cast<std::size_t>(step - base.features.begin());
  base.domain = {{place, 0, std::log(10)}};
  TransferReport report;
  const InspectorModel model = transfer_inspector(base, examples, {.setting = "b"}, report);
  ASSERT_EQ(model.domain.size(), 1U);
  EXPECT_EQ(model.domain[0].most, std::log(10));
  EXPECT_LT(model.domain[0].least, examples.front().features.values[place]);
}

// w = 0.5: 0.5 (physics + offset) + 0.5 absolute; the correction adds 0.3 + 0.2 to the whole.
TEST(TransferInspector, ACorrectionAddsToTheWhole) {
  const learn::Hybrid base{.physics = 0, .offset = 1, .weight = 0.5, .absolute = {.base = 4}};
  const learn::Trees trees{.base = 0.2F};
  const std::vector<double> features{2};
  EXPECT_NEAR(learn::evaluate(base, features), 0.5 * 3 + 0.5 * 4, 1e-6);
  EXPECT_NEAR(learn::evaluate(with_correction(base, 0.3, trees), features), 4.0, 1e-6);
}

}  // namespace
}  // namespace foretrain::train
