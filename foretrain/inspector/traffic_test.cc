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
  const std::vector<Moved> all = moved_bytes(job.stages.bound, job.resolved.optimizer, device);
  double moved = 0;
  double counted = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const graph::Node& node = job.stages.step->graph.nodes[n];
    if (graph::is_communication(node) || graph::op(node).family != family) continue;
    const graph::Work work = graph::work({job.stages.bound, node});
    moved += all[n].bytes + all[n].bytes_at_end + all[n].bytes_at_speed;
    counted += work.read_bytes + work.written_bytes;
  }
  return moved / counted;
}

// What the nodes of a kind move in a job, with the job.
struct OfKind {
  OfKind(const std::string& request, graph::Kind kind) : job(request) {
    const hw::Device& device = operators::slowest_device(job.stages, job.resolved);
    const std::vector<Moved> all = moved_bytes(job.stages.bound, job.resolved.optimizer, device);
    for (std::size_t n = 0; n < all.size(); ++n) {
      const graph::Node& node = job.stages.step->graph.nodes[n];
      if (node.kind == kind) found.emplace_back(&node, all[n]);
    }
  }
  double bytes(graph::TensorId id) const { return job.stages.bound.bytes(id); }
  Job job;
  std::vector<std::pair<const graph::Node*, Moved>> found;
};

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

TEST(Traffic, GemmsMoveWhatTheGraphSays) {
  EXPECT_DOUBLE_EQ(ratio(job_of("mlp"), graph::Family::Matrix), 1);
}

// A batch norm is one operator that reads its image, scale, shift and statistics and writes the
// image: two passes, though its kernel reads the image twice.
TEST(Traffic, OperatorsReadAndWriteEachTensorOnce) {
  const OfKind norms(job_of("resnet18-cifar"), graph::Kind::BatchNorm);
  ASSERT_FALSE(norms.found.empty());
  const auto& [node, moved] = norms.found.front();
  double bytes = 0;
  for (const graph::TensorId id : node->inputs) bytes += norms.bytes(id);
  for (const graph::TensorId id : node->outputs) bytes += norms.bytes(id);
  EXPECT_DOUBLE_EQ(moved.bytes, bytes);
  EXPECT_NEAR(moved.bytes / (2 * norms.bytes(node->outputs.front())), 1, 0.01);
}

// Both gradients of a convolution are one operator: dy, x and w in, dx and dw out.
TEST(Traffic, GradientsOfAConvolutionAreOneOperator) {
  const std::string request = job_of("resnet18-cifar");
  const OfKind of_inputs(request, graph::Kind::ConvInputGrad);
  const OfKind of_weights(request, graph::Kind::ConvWeightGrad);
  ASSERT_FALSE(of_inputs.found.empty());
  const auto& [input, first] = of_inputs.found.front();
  for (const auto& [weight, second] : of_weights.found) {
    if (weight->inputs.front() != input->inputs.front()) continue;
    EXPECT_EQ(first.together, second.together);
    const double each = of_inputs.bytes(input->inputs[0]) + of_inputs.bytes(input->inputs[1]) +
                        of_inputs.bytes(input->outputs[0]) + of_weights.bytes(weight->inputs[1]) +
                        of_weights.bytes(weight->outputs[0]);
    EXPECT_DOUBLE_EQ(first.bytes + second.bytes, each);
    return;
  }
  FAIL() << "the first gradient has no partner";
}

// A look-up is counted with its whole table, whatever it reads of it.
TEST(Traffic, ALookUpIsCountedWithItsTable) {
  const OfKind tables(job_of("lstm-lm"), graph::Kind::Embedding);
  ASSERT_FALSE(tables.found.empty());
  const auto& [node, moved] = tables.found.front();
  EXPECT_GE(moved.bytes, tables.bytes(node->inputs[1]));
}

// Log-softmax reads and writes the scores; the choice of values is counted as reading them again,
// at once. Backward the choice's gradient reads and writes, that of the log-softmax moves three.
TEST(Traffic, ACrossEntropyIsTwoOperators) {
  const OfKind losses(job_of("lstm-lm"), graph::Kind::CrossEntropy);
  const OfKind gradients(job_of("lstm-lm"), graph::Kind::LossGrad);
  ASSERT_EQ(losses.found.size(), 1U);
  ASSERT_EQ(gradients.found.size(), 1U);
  const double scores = losses.bytes(losses.found.front().first->inputs.front());
  EXPECT_DOUBLE_EQ(losses.found.front().second.bytes, 2 * scores);
  EXPECT_DOUBLE_EQ(losses.found.front().second.bytes_at_end, scores);
  EXPECT_DOUBLE_EQ(gradients.found.front().second.bytes, 5 * scores);
}

// Drawing the mask writes it once and takes the time; dividing it moves 2 and multiplying 3 passes.
TEST(Traffic, DropoutDrawsFirst) {
  const OfKind dropouts(job_of("bert-base:layers=1"), graph::Kind::Dropout);
  ASSERT_FALSE(dropouts.found.empty());
  const auto& [node, moved] = dropouts.found.front();
  EXPECT_DOUBLE_EQ(moved.bytes, dropouts.bytes(node->inputs.front()));
  EXPECT_DOUBLE_EQ(moved.bytes_at_speed, 5 * dropouts.bytes(node->inputs.front()));
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
