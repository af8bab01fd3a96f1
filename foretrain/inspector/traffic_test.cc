// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/traffic.h"

#include <gtest/gtest.h>

#include "foretrain/graph/op.h"
#include "foretrain/inspector/test_jobs.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

// Bytes of all nodes of a family over what the graph counts for them.
double ratio(const std::string& request, graph::Family family) {
  const Job job(request);
  const hw::Device& device = operators::slowest_device(job.stages, job.resolved);
  double moved = 0;
  double counted = 0;
  for (const graph::Node& node : job.stages.step->graph.nodes) {
    if (graph::is_communication(node) || graph::op(node).family != family) continue;
    const graph::Work work = graph::work({job.stages.bound, node});
    moved += moved_bytes(job.stages.bound, node, job.resolved.optimizer, device);
    counted += work.read_bytes + work.written_bytes;
  }
  return moved / counted;
}

// A fused Adam reads 4 and writes 3 values of each parameter; its operators one by one move
// 3 + 2 + 4 + 2 + 2 + 2 + 4 = 19 and AdamW's decay 2 more. SGD is one operator either way, momentum
// moves 2 + 3 + 3 = 8 in place of 5.
TEST(Traffic, OptimizersPassOverTheirValuesForEachTerm) {
  const auto update = [](const char* optimizer) {
    const std::string field = R"(, "optimizer": ")" + std::string(optimizer) + R"(")";
    return ratio(job_of("mlp", field), graph::Family::Update);
  };
  EXPECT_DOUBLE_EQ(update("sgd"), 1);
  EXPECT_DOUBLE_EQ(update("momentum"), 8.0 / 5);
  EXPECT_DOUBLE_EQ(update("adam"), 19.0 / 7);
  EXPECT_DOUBLE_EQ(update("adamw"), 21.0 / 7);
}

TEST(Traffic, OtherOperatorsMoveWhatTheGraphSays) {
  EXPECT_DOUBLE_EQ(ratio(job_of("resnet18-cifar"), graph::Family::Convolution), 1);
  EXPECT_DOUBLE_EQ(ratio(job_of("mlp"), graph::Family::Matrix), 1);
}

// A GRU reads its weights in every time step, an LSTM is one operator that keeps them.
TEST(Traffic, RecurrentWeightsAreReadInEveryTimeStep) {
  const double gru = ratio(job_of("deepspeech2"), graph::Family::Recurrent);
  const double lstm = ratio(job_of("lstm-lm"), graph::Family::Recurrent);
  EXPECT_GT(gru, 2);
  EXPECT_GT(lstm, 1);
  EXPECT_GT(gru, lstm);
}

TEST(Traffic, OnAGpuKernelsAreFused) {
  const std::string job = R"({"model": "mlp", "device": "t4", "batch": 4, "optimizer": "adamw"})";
  EXPECT_DOUBLE_EQ(ratio(job, graph::Family::Update), 1);
}

}  // namespace
}  // namespace foretrain::inspector
