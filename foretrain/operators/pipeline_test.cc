// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/pipeline.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "foretrain/graph/builder.h"
#include "foretrain/operators/breakdown.h"
#include "foretrain/operators/detail/memory.h"
#include "foretrain/operators/detail/step.h"

namespace foretrain::operators {
namespace {

using parallel::PassOrder;
using parallel::Pipeline;

// A stage whose forward pass takes 1 s and whose backward pass takes 2 s, through all its parts.
StagePasses equal_stage(int parts, double sent_bytes = 0) {
  StagePasses stage;
  for (int part = 0; part < parts; ++part) {
    Pass forward;
    forward.part = part;
    forward.time = forward.parts.compute = Seconds{1.0 / parts};
    Pass backward = forward;
    backward.kind = PassKind::Backward;
    backward.time = backward.parts.compute = Seconds{2.0 / parts};
    stage.each.forward.push_back(forward);
    stage.each.backward.push_back(backward);
  }
  stage.last = stage.each;
  stage.start.kind = PassKind::Start;
  stage.exchange.kind = PassKind::Exchange;
  stage.update.kind = PassKind::Update;
  stage.sent_forward_bytes.assign(static_cast<std::size_t>(parts), sent_bytes);
  stage.sent_backward_bytes.assign(static_cast<std::size_t>(parts), sent_bytes);
  return stage;
}

class PipelineTimeline : public testing::Test {
 protected:
  // On nodes of one device each.
  Stages run(const Pipeline& pipeline, const StagePasses& stage,
             const std::vector<StageSteps::Shared>& shared = {},
             const std::string& framework = "pytorch") {
    Request request = parse_request(
        R"({"model": "resnet18", "device": "v100-sxm2-16gb", "workers": )" +
            std::to_string(pipeline.stages) + R"(, "framework": ")" + framework +
            R"(", "workers_per_node": 1, "network": {"bytes_per_s": 1e9, "latency_s": 0, "rdma": true},)"
            R"( "strategy": {"pipeline": )" +
            std::to_string(pipeline.stages) + "}}",
        "test");
    const Resolved resolved = resolve(request, library_);
    const std::vector<const StagePasses*> stages(static_cast<std::size_t>(pipeline.stages), &stage);
    Stages result;
    result.program = schedule(stages, pipeline, shared, resolved, 0);
    result.program.classes.emplace_back();
    result.timeline = sim::run(result.program.program);
    result.pipeline.resize(static_cast<std::size_t>(pipeline.stages));
    return result;
  }

  Library library_ = load_library();
};

// m (f + b) of work, and (p - 1)(f + b) of waiting: 3 / 11 of the step for p = 4, m = 8.
TEST_F(PipelineTimeline, BubbleOfGPipeAndOneFOneB) {
  for (const PassOrder order : {PassOrder::GPipe, PassOrder::OneFOneB}) {
    const Stages stages = run({4, 1, 8, order}, equal_stage(1));
    EXPECT_NEAR(stages.timeline.end.count(), 33, 1e-9);
    const Breakdown parts = break_down(stages);
    EXPECT_NEAR(parts.compute.count(), 24, 1e-9);
    EXPECT_NEAR(parts.bubble / stages.timeline.end, 3.0 / 11, 1e-9);
    EXPECT_EQ(parts.exposed_communication, Seconds{0});
  }
}

// (p - 1) / (v m) of the work: with v = 2 parts 24 s (1 + 3/16) = 28.5 s.
TEST_F(PipelineTimeline, BubbleOfInterleavedStages) {
  for (const int parts : {2, 4}) {
    const Stages stages = run({4, parts, 8, PassOrder::OneFOneB}, equal_stage(parts));
    EXPECT_NEAR(stages.timeline.end.count(), 24 * (1 + 3.0 / (8 * parts)), 1e-9) << parts;
    EXPECT_NEAR(break_down(stages).bubble.count(), 9.0 / parts, 1e-9);
  }
}

TEST_F(PipelineTimeline, OneMicroBatchIsSerial) {
  for (const PassOrder order : {PassOrder::GPipe, PassOrder::OneFOneB}) {
    EXPECT_NEAR(run({4, 1, 1, order}, equal_stage(1)).timeline.end.count(), 12, 1e-9);
  }
  EXPECT_NEAR(run({4, 1, 1, PassOrder::Forward}, equal_stage(1)).timeline.end.count(), 4, 1e-9);
}

// Three transfers there and three back.
TEST_F(PipelineTimeline, OneMicroBatchWaitsForEveryTransfer) {
  const Stages stages = run({4, 1, 1, PassOrder::OneFOneB}, equal_stage(1, 1e9));
  std::vector<Seconds> sent;
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind == kCommunicationTask) sent.push_back(task.duration);
  }
  ASSERT_EQ(sent.size(), 6u);
  const double each = sent.front().count();
  EXPECT_GE(each, 1);
  EXPECT_NEAR(stages.timeline.end.count(), 12 + 6 * each, 1e-9);
  // Stage 0 waits for its gradients: the last of them comes by one transfer, which is exposed.
  const Breakdown parts = break_down(stages);
  EXPECT_NEAR(parts.exposed_communication.count(), each, 1e-9);
  EXPECT_NEAR((parts.compute + parts.bubble + parts.exposed_communication).count(),
              stages.timeline.end.count(), 1e-9);
}

// Two stages, four micro-batches, t for a transfer, which takes between 1 and 2 s. In between the
// first forward and the last backward pass each micro-batch takes 3 s and a transfer; where the
// sender computes nothing meanwhile, the third and fourth wait for one more.
TEST_F(PipelineTimeline, BlockingSendsHoldTheirStageUp) {
  const Pipeline pipeline{2, 1, 4, PassOrder::OneFOneB};
  const Stages free = run(pipeline, equal_stage(1, 1e9));
  double t = 0;
  for (const sim::Task& task : free.program.program.tasks) {
    if (task.kind == kCommunicationTask) t = task.duration.count();
  }
  ASSERT_GE(t, 1);
  ASSERT_LT(t, 2);
  EXPECT_NEAR(free.timeline.end.count(), 15 + 4 * t, 1e-9);
  const Stages blocking = run(pipeline, equal_stage(1, 1e9), {}, "megatron");
  EXPECT_NEAR(blocking.timeline.end.count(), 15 + 5 * t, 1e-9);
}

// Both ends of a transfer are held up. Stage 1 receives at 1, runs forward and backward to 4 + t,
// sends, receives (4 + 3 t), runs to 7 + 3 t, sends; 7 + 5 t, 10 + 5 t; 10 + 7 t, 13 + 7 t; its
// last gradients are there at 13 + 8 t, and stage 0 needs 2 s more.
TEST_F(PipelineTimeline, BlockingReceivesHoldBothStagesUp) {
  const Pipeline pipeline{2, 1, 4, PassOrder::OneFOneB};
  const Stages stages = run(pipeline, equal_stage(1, 1e9), {}, "megatron-deepspeed");
  double t = 0;
  double sent_s = 0;
  double received_s = 0;
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind == kCommunicationTask) sent_s += t = task.duration.count();
    if (task.kind == kReceiveTask) received_s += task.duration.count();
  }
  EXPECT_NEAR(sent_s, 8 * t, 1e-9);
  EXPECT_NEAR(received_s, sent_s, 1e-9);
  EXPECT_NEAR(stages.timeline.end.count(), 15 + 8 * t, 1e-9);
}

// Four ranks of a stage on a node each send a quarter, which is 1 GB at 10 GB/s between them: all
// of it leaves the node once. Without it each of them sends everything.
TEST(StageLinks, RanksThatHoldTheSameSendAPieceEach) {
  const Library library = load_library();
  const auto link = [&](const std::string& framework, bool sequence_parallel) {
    const std::string strategy =
        std::string(R"({"kind": "ddp", "pipeline": 2, "tensor": 4, "sequence_parallel": )") +
        (sequence_parallel ? "true}" : "false}");
    return parallel::stage_link(
        resolve(parse_request(R"({"model": "gpt2", "device": "a100", "workers": 8, )"
                              R"("workers_per_node": 4, "intra_node": "nvswitch", "framework": ")" +
                                  framework +
                                  R"(", "network": {"bytes_per_s": 1e10, "efficiency": 1, )"
                                  R"("latency_s": 0, "rdma": true}, "strategy": )" +
                                  strategy + "}",
                              "test"),
                library),
        0, 1);
  };
  const parallel::StageLink whole = link("pytorch", false);
  const parallel::StageLink pieces = link("megatron", false);
  EXPECT_EQ(whole.sent_by_node, 4);
  EXPECT_EQ(pieces.sent_by_node, 1);
  EXPECT_EQ(link("megatron", true).pieces, 1);
  const double sent = parallel::send_time(1e9, whole).count() / 4;
  const double gathered = 0.75e9 / pieces.gathered.bytes_per_s;
  EXPECT_NEAR(parallel::send_time(1e9, pieces).count(), sent + gathered, 2e-3);
}

// Each micro-batch passes each of 3 links once in each direction.
TEST_F(PipelineTimeline, BytesOnEachLink) {
  const Stages stages = run({4, 1, 8, PassOrder::OneFOneB}, equal_stage(1, 1000));
  std::map<std::pair<int, int>, double> bytes;
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind != kCommunicationTask) continue;
    const StageSend& send = stages.program.sends[static_cast<std::size_t>(task.tag)];
    EXPECT_EQ(send.backward, send.to < send.from);
    bytes[{send.from, send.to}] += send.bytes;
  }
  const std::map<std::pair<int, int>, double> expected{{{0, 1}, 8000}, {{1, 2}, 8000},
                                                       {{2, 3}, 8000}, {{1, 0}, 8000},
                                                       {{2, 1}, 8000}, {{3, 2}, 8000}};
  EXPECT_EQ(bytes, expected);
}

// Two parts per stage: the last stage's first part sends to the first stage's second one.
TEST_F(PipelineTimeline, InterleavedStagesAlsoSendFromLastToFirst) {
  const Stages stages = run({2, 2, 2, PassOrder::OneFOneB}, equal_stage(2, 1000));
  double around = 0;
  double all = 0;
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind != kCommunicationTask) continue;
    const StageSend& send = stages.program.sends[static_cast<std::size_t>(task.tag)];
    if (send.from == 1 && send.to == 0 && !send.backward) around += send.bytes;
    all += send.bytes;
  }
  EXPECT_EQ(around, 2000);  // two micro-batches
  EXPECT_EQ(all, 12000);    // over three borders, there and back
}

// The first and the last stage sum the gradients of a shared parameter when both are done.
TEST_F(PipelineTimeline, SharedParametersAreSummedLast) {
  StagePasses stage = equal_stage(1);
  stage.update.time = stage.update.parts.memory = Seconds{0.5};
  const Stages alone = run({4, 1, 8, PassOrder::OneFOneB}, stage);
  EXPECT_NEAR(alone.timeline.end.count(), 33.5, 1e-9);
  const Stages tied = run({4, 1, 8, PassOrder::OneFOneB}, stage, {{1e9, {0, 3}}});
  const sim::Task* sum = nullptr;
  for (const sim::Task& task : tied.program.program.tasks) {
    if (task.kind == kCommunicationTask) sum = &task;
  }
  ASSERT_NE(sum, nullptr);
  EXPECT_NEAR(tied.timeline.end.count(), 33.5 + sum->duration.count(), 1e-9);
  EXPECT_NEAR(break_down(tied).exposed_communication.count(), sum->duration.count(), 1e-9);
}

// Weights of 1024 x 1024 in fp32: 4 MiB each. Activations of one sample: 4096 B each.
constexpr double kWeight = 4194304;
constexpr double kActivation = 4096;

graph::TensorId dense(graph::Builder& b, const std::string& name, graph::TensorId x) {
  const graph::Scope scope(b, name);
  return b.add(graph::Kind::Linear, {x, b.parameter("weight", {1024, 1024})});
}

std::shared_ptr<const graph::Graph> stack() {
  graph::Builder b("stack");
  graph::TensorId x = dense(b, "stem", b.input("x", {b.batch(), 1024}));
  for (int i = 0; i < 4; ++i) {
    const graph::Scope scope(b, "layers." + std::to_string(i));
    const graph::TensorId y = dense(b, "fc2", b.add(graph::Kind::Relu, {dense(b, "fc1", x)}));
    x = b.add(graph::Kind::Add, {x, y});
  }
  x = dense(b, "head", x);
  b.output(x);
  b.loss(b.add(graph::Kind::Mean, {x}));
  return std::make_shared<const graph::Graph>(b.finish());
}

class PipelineMemory : public testing::Test {
 protected:
  RankMemory of_stage(int stage, const std::string& strategy) {
    const Request request = parse_request(
        R"({"model": "stack", "device": "cpu:cores=2", "workers": 2, "batch": 4, "strategy": {)" +
            strategy + R"("pipeline": 2, "micro_batch": 1}})",
        "test");
    const Resolved resolved = resolve(request, stack(), library_);
    return stage_memory(bind_stages(*find_step(resolved, library_), resolved), stage, resolved);
  }

  Library library_ = load_library();
};

// The first stage has the stem and two blocks, the last two blocks and the head: 5 weights each,
// and as many gradients, which add up over the micro-batches.
TEST_F(PipelineMemory, EachStageHasItsParameters) {
  for (const int stage : {0, 1}) {
    const MemoryReport memory = of_stage(stage, "").report;
    EXPECT_EQ(memory.parameters, 5 * kWeight);
    EXPECT_GE(memory.gradients, 5 * kWeight);
  }
}

// Five weights, the sums of their gradients and a new gradient, of the layer that backward reaches
// first; beside it lie the gradients of that layer's output and input. The first stage has its
// input, and for each of two micro-batches two blocks' inputs and ReLUs' outputs: 1 + 2 * 4 + 2.
// The last one has the same of its blocks, the head's input and output and the loss: 4 + 2 + 2.
TEST_F(PipelineMemory, PeakOfEachStage) {
  EXPECT_EQ(of_stage(0, "").report.allocated, 11 * kWeight + 11 * kActivation);
  EXPECT_EQ(of_stage(1, "").report.allocated, 11 * kWeight + 8 * kActivation + 4);
}

// A block keeps its input and its ReLU's output. 1F1B: the first of two stages has two
// micro-batches in flight, one besides the one that it works on; the last has one.
TEST_F(PipelineMemory, OneFOneBHoldsAsManyMicroBatchesAsStagesFollow) {
  EXPECT_EQ(of_stage(0, "").held_bytes, 4 * kActivation);
  EXPECT_EQ(of_stage(1, "").held_bytes, 0);
}

// GPipe: three besides. The last stage keeps what it received, the other block's input, two outputs
// of ReLU, the head's input and output, and 4 B of loss.
TEST_F(PipelineMemory, GPipeHoldsAllMicroBatches) {
  const std::string gpipe = R"("schedule": "gpipe", )";
  EXPECT_EQ(of_stage(0, gpipe).held_bytes, 3 * 4 * kActivation);
  EXPECT_EQ(of_stage(1, gpipe).held_bytes, 3 * (6 * kActivation + 4));
  EXPECT_EQ(of_stage(0, gpipe).report.allocated - of_stage(0, "").report.allocated,
            2 * 4 * kActivation);
}

// A block that runs again keeps its input.
TEST_F(PipelineMemory, RecomputationHoldsInputsAlone) {
  const RankMemory full = of_stage(0, R"("recompute": "full", "schedule": "gpipe", )");
  EXPECT_EQ(full.held_bytes, 3 * 2 * kActivation);
}

}  // namespace
}  // namespace foretrain::operators
