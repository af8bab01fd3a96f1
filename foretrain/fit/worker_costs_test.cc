// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/worker_costs.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

using measured::TestFolder;

// Steps on 1, 2 and 4 GPUs as `truth` predicts them, each job slower than that by a factor of its
// own, which tells nothing.
std::vector<StepGroup> made_by(const Library& truth, const std::string& strategy) {
  std::vector<StepGroup> groups;
  double slower = 1;
  for (const char* model : {"resnet18-cifar", "densenet121", "mobilenet_v2", "vgg11"}) {
    StepGroup& group = groups.emplace_back();
    slower *= 1.1;
    for (const char* workers : {"1", "2", "4"}) {
      const Request request =
          parse_request(std::string(R"({"device": "rtx2080ti", "batch": 12, "model": ")") + model +
                            R"(", "strategy": ")" + strategy + R"(", "workers": )" + workers + "}",
                        "test");
      group.push_back({request, slower * predict(request, truth).step_time_s.value});
    }
  }
  return groups;
}

TEST(FitExchange, FindsWhatATensorCosts) {
  Library truth = load_library();
  comm::ExchangeCosts costs = *truth.exchange;
  costs.data_parallel.tensor_s *= 2;
  truth.exchange = std::make_shared<comm::ExchangeCosts>(costs);
  const FittedExchange fitted = fit_exchange(made_by(truth, "dataparallel"), {}, load_library());
  EXPECT_NEAR(fitted.costs.data_parallel.tensor_s / costs.data_parallel.tensor_s, 1, 0.2);
  EXPECT_LT(fitted.error.after, 0.4 * fitted.error.before);
  EXPECT_EQ(fitted.costs.ddp.bucket_bytes, costs.ddp.bucket_bytes);  // a setting of PyTorch
  EXPECT_EQ(fitted.costs.cpu.ddp_byte_s, costs.cpu.ddp_byte_s);      // no step on a CPU
}

TEST(FitStraggling, FindsHowMuchStepsVary) {
  Library truth = load_library();
  cost::Straggling straggling = *truth.straggling;
  straggling.step_variation *= 3;
  truth.straggling = std::make_shared<cost::Straggling>(straggling);
  WorkerFit options;
  options.usual = 5;  // the variation is a small part of these few steps
  const FittedStraggling fitted = fit_straggling(made_by(truth, "ddp"), options, load_library());
  EXPECT_NEAR(fitted.straggling.step_variation / straggling.step_variation, 1, 0.3);
  EXPECT_LT(fitted.error.after, fitted.error.before);
}

// Of three jobs one ran on one worker and on two, one on two only, and one on one only, which
// tells nothing of others.
TEST(WorkerSteps, AJobThatRanAloneTooIsAGroup) {
  const TestFolder folder;
  std::string lines;
  const auto add = [&](const std::string& model, int workers, int batch) {
    lines += R"({"request": {"model": ")" + model + R"(", "device": "t4", "batch": )" +
             std::to_string(batch) + R"(, "workers": )" + std::to_string(workers) +
             R"(}, "step_time_s": 0.1})" + "\n";
  };
  add("mlp", 2, 8);
  add("mlp", 1, 8);
  add("resnet18-cifar", 2, 8);
  add("mlp", 1, 16);
  const auto data = folder.write("steps.jsonl", lines);
  const std::vector<StepGroup> groups = worker_steps(data, {}, load_library());
  ASSERT_EQ(groups.size(), 2U);
  ASSERT_EQ(groups[0].size(), 2U);
  EXPECT_EQ(groups[0][0].request.workers, 1);
  EXPECT_EQ(groups[0][1].request.workers, 2);
  EXPECT_DOUBLE_EQ(groups[0][1].step_time_s, 0.1);
  ASSERT_EQ(groups[1].size(), 1U);
  EXPECT_EQ(groups[1][0].request.model, "resnet18-cifar");
  EXPECT_THROW(worker_steps(data, {.without = {"mlp", "resnet18-cifar"}}, load_library()), Error);
}

}  // namespace
}  // namespace foretrain::fit
