// SPDX-License-Identifier: Apache-2.0
// Offload to the host's memory in whole predictions.
#include "foretrain/graph/offload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "foretrain/operators/stages.h"
#include "foretrain/predict/advice.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

const Library& library() {
  static const Library kLibrary = load_library();
  return kLibrary;
}

Request request(const std::string& fields) { return parse_request("{" + fields + "}", "test"); }

Report report(const std::string& fields) { return predict(request(fields), library()); }

// Four layers of 1024 x 1024 with biases, all sizes multiples of 512 bytes.
constexpr const char* kJob =
    R"("model":"mlp:in=1024,hidden=1024,layers=4,classes=1024","device":"t4","batch":1,
       "optimizer":"adam")";
constexpr double kParameters = 4 * 4 * (1024 * 1024 + 1024);  // bytes

// The device keeps parameters and gradients; two states and a temporary are gone.
TEST(OptimizerOffload, LeavesParametersAndGradientsOnTheDevice) {
  const MemoryReport here = report(kJob).memory;
  const MemoryReport away =
      report(std::string(kJob) + R"(,"strategy":{"offload":"optimizer"})").memory;
  EXPECT_EQ(here.optimizer, 3 * kParameters);
  EXPECT_EQ(away.optimizer, 0);
  EXPECT_EQ(away.parameters, here.parameters);
  EXPECT_LE(away.gradients, kParameters);
}

// Megatron's model in 16 bits has fp32 masters in the optimizer, which lie on the host as well.
TEST(OptimizerOffload, TakesMasterWeightsAlong) {
  const std::string job = std::string(kJob) + R"(,"framework":"megatron","precision":"fp16")";
  EXPECT_GT(report(job).memory.optimizer, 0);
  EXPECT_EQ(report(job + R"(,"strategy":{"offload":"optimizer"})").memory.optimizer, 0);
}

// Adam in separate operators moves 19 values of each parameter, all through the host's memory at
// 211 GB/s; then they come back at 11 GB/s. A host that is infinitely fast issues them
// in no time. The device has done its work before: the update waits for the last gradient.
TEST(OptimizerOffload, UpdatesWhenAllGradientsAreThere) {
  const Resolved resolved = resolve(
      request(std::string(kJob) + R"(,"host_speed":1e12,"strategy":{"offload":"optimizer"})"),
      library());
  const operators::Stages stages = operators::run_stages(resolved, library());
  Seconds copied{0};
  Seconds updated{0};
  for (std::size_t t = 0; t < stages.program.program.tasks.size(); ++t) {
    const sim::Task& task = stages.program.program.tasks[t];
    const sim::Span& span = stages.timeline.spans[t];
    const graph::Node& node = stages.step->graph.nodes[static_cast<std::size_t>(task.tag)];
    if (task.kind == operators::kHostUpdateTask) {
      EXPECT_EQ(span.start, copied);
      EXPECT_NEAR((span.end - span.start).count(), 19 * kParameters / 211e9, 1e-9);
      updated = span.end;
    } else if (graph::is_copy_out(node)) {
      copied = std::max(copied, span.end);
    } else if (graph::is_copy_in(node)) {
      EXPECT_EQ(span.start, updated);
      EXPECT_NEAR((span.end - span.start).count(), 5.7e-6 + kParameters / 11e9, 1e-9);
      EXPECT_EQ(span.end, stages.timeline.end);
    }
  }
  EXPECT_GT(updated, Seconds{0});
}

TEST(OptimizerOffload, CountsTheUpdateAsHostAndCopiesAsCommunication) {
  const Report plain = report(kJob);
  const Report away = report(std::string(kJob) + R"(,"strategy":{"offload":"optimizer"})");
  EXPECT_GT(away.breakdown.host - plain.breakdown.host, Seconds{0});
  EXPECT_GT(away.breakdown.exposed_communication, Seconds{0});
  EXPECT_GT(away.communication.count(), 2 * kParameters / 11e9);
  EXPECT_FALSE(away.resources.server);
  EXPECT_EQ(away.sent_bytes, 0);
}

constexpr std::array kModels{
    "resnet18:image=64", "gpt:layers=4,hidden=256,heads=4,seq=128,vocab=1000",
    "llama:layers=3,hidden=256,heads=4,kv_heads=2,ffn=512,seq=64,vocab=1000"};
constexpr std::array kWays{
    R"("workers":1)",
    R"("workers":4,"strategy":{"kind":"ddp")",
    R"("workers":4,"strategy":{"kind":"ddp","micro_batch":2)",
    R"("workers":4,"strategy":{"kind":"fsdp","recompute":"full")",
    R"("workers":4,"strategy":{"kind":"zero1")",
    R"("workers":4,"framework":"deepspeed","precision":"bf16","strategy":{"kind":"zero1")",
    R"("workers":4,"framework":"deepspeed","precision":"bf16","strategy":{"kind":"zero2")"};

std::string with(const std::string& way, const std::string& offload) {
  if (way.find('{') == std::string::npos) return way + R"(,"strategy":{)" + offload + "}";
  return way + "," + offload + "}";
}

// On a device whose memory is faster than the host's.
TEST(OffloadLaws, NeverMoreMemoryNorLessTime) {
  for (const char* model : kModels) {
    for (const char* way : kWays) {
      const std::string job = R"("model":")" + std::string(model) +
                              R"(","device":"a100","batch":8,"optimizer":"adam",)";
      const Report here = report(job + with(way, R"("offload":"none")"));
      for (const char* what : {R"("offload":"optimizer")", R"("offload":"activations")"}) {
        SCOPED_TRACE(job + with(way, what));
        const Report away = report(job + with(way, what));
        EXPECT_LE(away.memory.allocated, here.memory.allocated);
        EXPECT_GE(away.step_time_s.value, here.step_time_s.value * (1 - 1e-12));
        const Breakdown& parts = away.breakdown;
        const Seconds sum = parts.compute + parts.memory + parts.exposed_communication +
                            parts.host + parts.bubble + parts.input;
        EXPECT_NEAR(sum.count(), away.step_time_s.value, 1e-9 * away.step_time_s.value);
      }
    }
  }
}

// Of twelve layers two pieces of one are there while the others are away. The logits, which the
// loop keeps, are small.
TEST(ActivationOffload, SavesMostOfTheActivations) {
  const std::string job = R"("model":"gpt:layers=12,hidden=768,heads=12,seq=1024,vocab=1000",
      "device":"a100","batch":8,"precision":"bf16","optimizer":"adamw")";
  const Report here = report(job);
  const Report away = report(job + R"(,"strategy":{"offload":"activations"})");
  EXPECT_LT(away.memory.activations, here.memory.activations / 6);
  EXPECT_GT(away.step_time_s.value, here.step_time_s.value);
}

// 1.24 billion parameters with gradients, two states and a temporary are 24.7 GB of 25.8; without
// the states and the temporary 9.9 GB.
TEST(Advice, OffersOffload) {
  const Report advised = predict_and_advise(
      request(R"("model":"llama3.2-1b:seq=1024","device":"rtx-3090","batch":2,"precision":"bf16",
                 "optimizer":"adamw","strategy":{"recompute":"full"})"),
      library());
  ASSERT_FALSE(advised.memory.fits);
  EXPECT_TRUE(std::any_of(
      advised.would_fit.begin(), advised.would_fit.end(),
      [](const Remedy& one) { return one.change.find("--offload") != std::string::npos; }));
}

}  // namespace
}  // namespace foretrain
