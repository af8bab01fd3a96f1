// SPDX-License-Identifier: Apache-2.0
// Laws of pipeline parallelism, on whole predictions.
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/operators/stages.h"
#include "foretrain/operators/trace.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

constexpr const char* kGpt = "gpt:layers=8,hidden=512,heads=8,seq=128,vocab=1000";
constexpr const char* kLlama =
    "llama:layers=8,hidden=512,heads=8,kv_heads=4,ffn=1024,seq=128,vocab=1000";

class PipelineLaws : public testing::Test {
 protected:
  static Request request(const std::string& model, int workers, const std::string& strategy,
                         const std::string& more = "", int batch = 8) {
    return parse_request(R"({"model": ")" + model + R"(", "device": "a100", "batch": )" +
                             std::to_string(batch) + R"(, "optimizer": "adam", "workers": )" +
                             std::to_string(workers) + R"(, "strategy": {)" + strategy + "}" +
                             more + "}",
                         "test");
  }
  Report ask(const std::string& model, int workers, const std::string& strategy,
             const std::string& more = "", int batch = 8) const {
    return predict(request(model, workers, strategy, more, batch), library_);
  }
  static double sum(const Breakdown& parts) {
    return (parts.compute + parts.memory + parts.exposed_communication + parts.host + parts.bubble +
            parts.input)
        .count();
  }

  Library library_ = load_library();
};

TEST_F(PipelineLaws, PartsAndPhasesAddUpToTheStep) {
  for (const char* model : {kGpt, kLlama, "bert-base:seq=64"}) {
    for (const char* schedule :
         {R"("pipeline": 4, "micro_batch": 1)", R"("pipeline": 4, "schedule": "gpipe")",
          R"("pipeline": 2, "interleave": 2, "micro_batch": 1, "kind": "zero1")"}) {
      const Report report = ask(model, 8, schedule);
      const double step = report.step_time_s.value;
      EXPECT_NEAR(sum(report.breakdown) / step, 1, 1e-9) << model << schedule;
      const Phases& phases = report.phases;
      EXPECT_NEAR((phases.forward + phases.backward + phases.update).count() / step, 1, 1e-9);
      EXPECT_GT(report.breakdown.bubble.count(), 0);
    }
  }
}

// Every operator runs on one of the stages: the model's FLOPs stay the same.
TEST_F(PipelineLaws, TheWorkStaysTheSame) {
  for (const char* model : {kGpt, kLlama}) {
    const Report whole = ask(model, 1, R"("micro_batch": 1)");
    const Report cut = ask(model, 4, R"("pipeline": 4, "micro_batch": 1)");
    EXPECT_EQ(cut.job.parameters, whole.job.parameters);
    EXPECT_NEAR(4 * *cut.mfu * cut.step_time_s.value, *whole.mfu * whole.step_time_s.value, 1e-12);
    EXPECT_LT(cut.memory.allocated, whole.memory.allocated);
    EXPECT_NEAR(*cut.tokens_per_s * cut.step_time_s.value, 8 * 128, 1e-6);
  }
}

// One micro-batch: the sum of all stages' passes and transfers.
TEST_F(PipelineLaws, OneMicroBatchIsSerial) {
  const Resolved resolved = resolve(request(kGpt, 4, R"("pipeline": 4)"), library_);
  const operators::Stages stages = operators::run_stages(resolved, library_);
  double passes = 0;
  double tail = 0;
  for (const sim::Task& task : stages.program.program.tasks) {
    const bool tied = task.kind == operators::kCommunicationTask &&
                      stages.program.sends[static_cast<std::size_t>(task.tag)].to == 3 &&
                      stages.program.sends[static_cast<std::size_t>(task.tag)].from == 0;
    if (task.kind == operators::kCommunicationTask) {
      (tied ? tail : passes) += task.duration.count();
    }
    if (task.kind != operators::kPassTask) continue;
    const operators::Pass& pass = stages.program.passes[static_cast<std::size_t>(task.tag)];
    const bool is_pass =
        pass.kind == operators::PassKind::Forward || pass.kind == operators::PassKind::Backward;
    if (is_pass || pass.stage == 0) passes += task.duration.count();
  }
  EXPECT_NEAR(stages.timeline.end.count() / (passes + tail), 1, 1e-9);
}

// Without time on the links what is left is compute, its memory and host, and bubbles; launches of
// transfers take below a percent.
TEST_F(PipelineLaws, InfiniteBandwidthLeavesComputeAndBubbles) {
  const std::string fast =
      R"(, "workers_per_node": 1, "network": {"bytes_per_s": 1e13, "latency_s": 0})";
  const Report report = ask(kLlama, 4, R"("pipeline": 4, "micro_batch": 1)", fast);
  EXPECT_LT(report.breakdown.exposed_communication.count(), 0.01 * report.step_time_s.value);
  const Report slow = ask(kLlama, 4, R"("pipeline": 4, "micro_batch": 1)",
                          R"(, "workers_per_node": 1, "network": "1gbe")");
  EXPECT_GT(slow.step_time_s.value, report.step_time_s.value);
}

// m + p - 1 against m: more micro-batches of the same size have smaller bubbles.
TEST_F(PipelineLaws, MoreMicroBatchesHaveSmallerBubbles) {
  double before = 1;
  for (const int batch : {1, 2, 4, 8, 32, 128}) {
    const Report report = ask(kGpt, 4, R"("pipeline": 4, "micro_batch": 1)", "", batch);
    const double share = report.breakdown.bubble.count() / report.step_time_s.value;
    EXPECT_LT(share, before) << batch;
    before = share;
  }
}

TEST_F(PipelineLaws, GPipeNeedsMoreMemoryThanOneFOneB) {
  const Report one = ask(kLlama, 4, R"("pipeline": 4, "micro_batch": 1)");
  const Report gpipe = ask(kLlama, 4, R"("pipeline": 4, "micro_batch": 1, "schedule": "gpipe")");
  EXPECT_GT(gpipe.memory.allocated, one.memory.allocated);
}

// gpt ties its head to the embedding.
TEST_F(PipelineLaws, ATiedEmbeddingIsSummedOverFirstAndLast) {
  const Resolved resolved = resolve(request(kGpt, 4, R"("pipeline": 4)"), library_);
  const operators::Stages stages = operators::run_stages(resolved, library_);
  std::vector<double> sums;
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind != operators::kCommunicationTask) continue;
    const operators::StageSend& send = stages.program.sends[static_cast<std::size_t>(task.tag)];
    if (send.from == 0 && send.to == 3) sums.push_back(send.bytes);
  }
  EXPECT_EQ(sums, std::vector<double>{1000 * 512 * 4});
}

// A micro-batch of 2 samples of 128 tokens of 512 values in fp32 crosses each cut.
TEST_F(PipelineLaws, BytesAtACutAreThoseOfItsTensor) {
  const Resolved resolved =
      resolve(request(kLlama, 4, R"("pipeline": 4, "micro_batch": 2)"), library_);
  const operators::Stages stages = operators::run_stages(resolved, library_);
  int transfers = 0;
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind != operators::kCommunicationTask) continue;
    EXPECT_EQ(stages.program.sends[static_cast<std::size_t>(task.tag)].bytes, 2 * 128 * 512 * 4);
    ++transfers;
  }
  EXPECT_EQ(transfers, 2 * 3 * 4);  // there and back, over 3 cuts, of 4 micro-batches
}

// Every tensor-parallel rank sends what it has at a cut: all of it, or its part of the sequence.
TEST_F(PipelineLaws, TensorParallelRanksEachSendTheirOwn) {
  for (const bool sequence : {false, true}) {
    const Resolved resolved =
        resolve(request(kLlama, 8,
                        std::string(R"("pipeline": 4, "tensor": 2, "micro_batch": 2)") +
                            (sequence ? R"(, "sequence_parallel": true)" : "")),
                library_);
    const operators::Stages stages = operators::run_stages(resolved, library_);
    for (const sim::Task& task : stages.program.program.tasks) {
      if (task.kind != operators::kCommunicationTask) continue;
      EXPECT_EQ(stages.program.sends[static_cast<std::size_t>(task.tag)].bytes,
                2 * 128 * 512 * 4 / (sequence ? 2 : 1));
    }
  }
}

TEST_F(PipelineLaws, TheTraceShowsTheStages) {
  const Resolved resolved = resolve(request(kGpt, 2, R"("pipeline": 2)"), library_);
  const operators::Stages stages = operators::run_stages(resolved, library_);
  const std::string trace = operators::to_chrome_trace(stages, resolved.cluster);
  for (const char* name : {"stage 0", "stage 1", "forward", "backward", "update",
                           "activations from stage 0 to 1", "gradients from stage 1 to 0"}) {
    EXPECT_NE(trace.find(name), std::string::npos) << name;
  }
  const Json memory = parse_json(operators::dump_stage(stages, resolved, "memory"), "memory");
  EXPECT_EQ(memory.front().at("stage"), 0);
  EXPECT_FALSE(memory.front().at("storages").empty());
}

TEST_F(PipelineLaws, WhatCannotBeCutIsOneError) {
  const auto kind = [&](const std::string& model, const std::string& strategy) {
    try {
      ask(model, 8, strategy);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.kind();
    }
    ADD_FAILURE() << model << strategy;
    return ErrorKind::Io;
  };
  EXPECT_EQ(kind("vgg16", R"("pipeline": 2)"), ErrorKind::Unsupported);
  EXPECT_EQ(kind(kGpt, R"("pipeline": 4, "interleave": 4)"), ErrorKind::BadInput);
  EXPECT_EQ(kind(kGpt, R"("pipeline": 8, "interleave": 2, "micro_batch": 1)"),
            ErrorKind::Unsupported);  // 16 parts of 8 blocks
  EXPECT_EQ(kind(kGpt, R"("interleave": 2)"), ErrorKind::BadInput);
  EXPECT_EQ(kind(kGpt, R"("pipeline": 4, "interleave": 2, "schedule": "gpipe")"),
            ErrorKind::BadInput);
  EXPECT_EQ(kind(kGpt, R"("pipeline": 2, "kind": "fsdp")"), ErrorKind::Unsupported);
  EXPECT_EQ(kind(kGpt, R"("pipeline": 3)"), ErrorKind::BadInput);
}

}  // namespace
}  // namespace foretrain
