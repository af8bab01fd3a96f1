// SPDX-License-Identifier: Apache-2.0
// Laws of context parallelism, on whole predictions.
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/op.h"
#include "foretrain/operators/stages.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

constexpr const char* kModels[] = {
    "gpt:layers=4,hidden=512,heads=8,seq=2048,vocab=4096",
    "llama:layers=4,hidden=512,heads=8,kv_heads=4,ffn=1024,seq=2048,vocab=4096",
    "bert-base:seq=512,layers=2,heads=8,hidden=512"};

class ContextLaws : public testing::Test {
 protected:
  static Request request(const std::string& model, int workers, const std::string& strategy,
                         const std::string& more = "") {
    return parse_request(R"({"model": ")" + model +
                             R"(", "device": "a100-sxm4-80gb", "batch": 4, "optimizer": "adam", )" +
                             R"("precision": "bf16", "workers": )" + std::to_string(workers) +
                             R"(, "strategy": {)" + strategy + "}" + more + "}",
                         "test");
  }
  Report ask(const std::string& model, int workers, const std::string& strategy,
             const std::string& more = "") const {
    return predict(request(model, workers, strategy, more), library_);
  }
  static std::string context(int ranks) { return R"("context": )" + std::to_string(ranks); }

  Library library_ = load_library();
};

TEST_F(ContextLaws, OneRankChangesNothing) {
  for (const char* model : kModels) {
    const Report plain = ask(model, 2, R"("kind": "ddp")");
    const Report one = ask(model, 2, context(1));
    EXPECT_EQ(one.step_time_s.value, plain.step_time_s.value) << model;
    EXPECT_EQ(one.memory.peak, plain.memory.peak) << model;
  }
}

// At one data-parallel rank; parameters and their states stay, activations are shared.
TEST_F(ContextLaws, MoreRanksNeedLessMemory) {
  for (const char* model : kModels) {
    double before = ask(model, 1, context(1)).memory.allocated;
    for (const int ranks : {2, 4, 8}) {
      const Report report = ask(model, ranks, context(ranks), R"(, "workers_per_node": 8)");
      EXPECT_LT(report.memory.allocated, before) << model << ranks;
      before = report.memory.allocated;
    }
  }
}

// All ranks together do what one did; BERT's small heads are done by all.
TEST_F(ContextLaws, TheWorkStaysTheSame) {
  for (const char* model : {kModels[0], kModels[1]}) {
    const Report one = ask(model, 1, context(1));
    const Report four = ask(model, 4, context(4));
    EXPECT_NEAR(4 * *four.mfu * four.step_time_s.value / (*one.mfu * one.step_time_s.value), 1,
                1e-9);
    EXPECT_NEAR(*four.tokens_per_s * four.step_time_s.value, 4 * 2048, 1e-6);
  }
}

TEST_F(ContextLaws, InfiniteBandwidthLeavesCompute) {
  const std::string ideal =
      R"(, "host_speed": 100, "intra_node": {"bytes_per_s": 1e13, "latency_s": 0, "efficiency": 1})";
  for (const char* model : {kModels[0], kModels[1]}) {
    const Report fast = ask(model, 4, context(4), ideal);
    EXPECT_LT(fast.breakdown.exposed_communication.count(), 0.02 * fast.step_time_s.value);
    const Report slow = ask(model, 4, context(4), R"(, "workers_per_node": 1, "network": "1gbe")");
    EXPECT_GT(slow.breakdown.exposed_communication.count(), 0.5 * slow.step_time_s.value);
  }
}

// 8 ranks: 4 that share sequences, in 2 data-parallel groups. All 8 sum their gradients, as in
// plain data parallelism.
TEST_F(ContextLaws, GradientsAreSummedOverContextAndData) {
  const auto exchanged = [&](const std::string& strategy) {
    const Resolved resolved = resolve(request(kModels[0], 8, strategy), library_);
    const operators::Stages stages = operators::run_stages(resolved, library_);
    double seconds = 0;
    for (const sim::Task& task : stages.program.program.tasks) {
      if (task.kind != operators::kCommunicationTask) continue;
      const graph::Node& node = stages.step->graph.nodes[static_cast<std::size_t>(task.tag)];
      if (node.kind == graph::Kind::AllReduce) seconds += task.duration.count();
    }
    return seconds;
  };
  EXPECT_GT(exchanged(context(4)), 0);
  EXPECT_NEAR(exchanged(context(4)) / exchanged(R"("kind": "ddp")"), 1, 1e-9);
}

// A block and what goes around meanwhile begin together, and the next ones when both are done:
//
//   ring = sum over i < c-1 of max(block and merge, transfer) + the last block and merge
class Ring : public ContextLaws {
 protected:
  struct Found {
    double span = 0;     // of the first layer's forward ring
    double derived = 0;  // by the formula
    double transfers = 0;
    double blocks = 0;
  };

  Found ring(const std::string& more) const {
    const Resolved resolved =
        resolve(request(kModels[0], 4, context(4), R"(, "host_speed": 1e4)" + more), library_);
    const operators::Stages stages = operators::run_stages(resolved, library_);
    const std::vector<graph::Node>& nodes = stages.step->graph.nodes;
    const auto first = std::find_if(nodes.begin(), nodes.end(), [](const graph::Node& node) {
      return node.kind == graph::Kind::CollectivePermute;
    });
    const auto begin = static_cast<std::int32_t>(first - nodes.begin());
    std::vector<double> transfers;
    std::vector<double> blocks;
    double start = 0;
    double end = 0;
    const std::vector<sim::Task>& tasks = stages.program.program.tasks;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const std::int32_t tag = tasks[t].tag;
      // 3 transfers, 4 blocks, 3 merges.
      if (tag < begin || tag >= begin + 10 || tasks[t].kind == operators::kHostTask) continue;
      const sim::Span& span = stages.timeline.spans[t];
      if (tasks[t].kind == operators::kCommunicationTask) {
        transfers.push_back((span.end - span.start).count());
        continue;
      }
      if (nodes[static_cast<std::size_t>(tag)].kind == graph::Kind::Attention) {
        if (blocks.empty()) start = span.start.count();
        blocks.push_back(0);
      }
      blocks.back() += (span.end - span.start).count();
      end = span.end.count();
    }
    EXPECT_EQ(transfers.size(), 3U);
    EXPECT_EQ(blocks.size(), 4U);
    Found found{end - start, 0, 0, 0};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const double moved = i < transfers.size() ? transfers[i] : 0;
      found.derived += std::max(blocks[i], moved);
      found.transfers += moved;
      found.blocks += blocks[i];
    }
    return found;
  }
};

TEST_F(Ring, FastLinksHideBehindTheBlocks) {
  const Found found =
      ring(R"(, "intra_node": {"bytes_per_s": 1e13, "latency_s": 1e-7, "efficiency": 1})");
  EXPECT_NEAR(found.span / found.derived, 1, 0.01);
  EXPECT_NEAR(found.span / found.blocks, 1, 0.01);
}

// Keys and values of 4 x 512 tokens of 512 values in bf16, over links of 100 MB/s: 42 ms.
TEST_F(Ring, BlocksHideBehindSlowLinks) {
  const Found found =
      ring(R"(, "intra_node": {"bytes_per_s": 1e8, "latency_s": 0, "efficiency": 1})");
  EXPECT_NEAR(found.span / found.derived, 1, 0.01);
  EXPECT_GT(found.transfers, 3 * 2.0 * 4 * 512 * 512 * 2 / 1e8 * 0.99);
  EXPECT_GT(found.transfers, 10 * found.blocks);
}

TEST_F(ContextLaws, WorksBesideEverythingElse) {
  for (const char* model : {kModels[0], kModels[1]}) {
    for (const char* more :
         {R"("kind": "zero1")", R"("kind": "zero2")", R"("kind": "fsdp")",
          R"("tensor": 2, "sequence_parallel": true)", R"("pipeline": 2, "micro_batch": 1)",
          R"("pipeline": 2, "tensor": 2, "kind": "zero1", "recompute": "full", "micro_batch": 1)",
          R"("offload": "optimizer")", R"("recompute": "selective")"}) {
      for (const char* framework : {"pytorch", "megatron"}) {
        const Report report = ask(model, 16, context(2) + ", " + more,
                                  R"(, "workers_per_node": 8, "network": "hdr", "framework": ")" +
                                      std::string(framework) + '"');
        const Breakdown& parts = report.breakdown;
        const double sum = (parts.compute + parts.memory + parts.exposed_communication +
                            parts.host + parts.bubble + parts.input)
                               .count();
        EXPECT_NEAR(sum / report.step_time_s.value, 1, 1e-9) << model << more << framework;
      }
    }
  }
}

// A stage passes on its ranks' own tokens: 2 samples of 1024 tokens of 512 values in fp32, which
// automatic mixed precision leaves the sums of blocks in.
TEST_F(ContextLaws, StagesPassOnTheirPartOfTheSequence) {
  const Resolved resolved =
      resolve(request(kModels[1], 4, R"("pipeline": 2, "context": 2, "micro_batch": 2)"), library_);
  const operators::Stages stages = operators::run_stages(resolved, library_);
  for (const sim::Task& task : stages.program.program.tasks) {
    if (task.kind != operators::kCommunicationTask) continue;
    const double bytes = stages.program.sends[static_cast<std::size_t>(task.tag)].bytes;
    EXPECT_EQ(bytes, 2 * 1024 * 512 * 4);
  }
}

TEST_F(ContextLaws, RefusesWhatDoesNotFit) {
  const auto kind = [&](const std::string& model, int workers, const std::string& strategy,
                        const std::string& more = "") {
    try {
      ask(model, workers, strategy, more);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.kind();
    }
    ADD_FAILURE() << model << strategy;
    return ErrorKind::Io;
  };
  EXPECT_EQ(kind("resnet18", 2, context(2)), ErrorKind::Unsupported);
  EXPECT_EQ(kind(kModels[0], 3, context(3)), ErrorKind::BadInput);
  EXPECT_EQ(kind(kModels[0], 6, context(4)), ErrorKind::BadInput);
  EXPECT_EQ(kind(kModels[0], 2, context(2), R"(, "attention": "math")"), ErrorKind::BadInput);
  EXPECT_EQ(kind(kModels[0], 2, context(2) + R"(, "kind": "ps")"), ErrorKind::Unsupported);
}

}  // namespace
}  // namespace foretrain
