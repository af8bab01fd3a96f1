// SPDX-License-Identifier: Apache-2.0
// Laws of tensor parallelism, on models of several kinds.
#include <gtest/gtest.h>

#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

constexpr const char* kModels[] = {
    "gpt:layers=4,hidden=512,heads=8,seq=256,vocab=4096",
    "llama:layers=4,hidden=512,heads=8,kv_heads=8,ffn=1024,seq=256,vocab=4096",
    "llama:layers=2,hidden=512,heads=8,ffn=1024,seq=128,vocab=4096,experts=4,active=2",
    "bert-base:seq=128,layers=2,heads=8,hidden=512"};

class TensorLaws : public testing::Test {
 protected:
  Report ask(const std::string& model, int workers, const std::string& strategy,
             const std::string& more = R"(, "framework": "megatron", "precision": "fp16")") const {
    return predict(
        parse_request(
            R"({"model": ")" + model + R"(", "device": "a100-sxm4-80gb", "network": "hdr", )" +
                R"("batch": 8, "optimizer": "adam", "workers": )" + std::to_string(workers) +
                R"(, "strategy": {)" + strategy + "}" + more + "}",
            "test"),
        library_);
  }
  static std::string tensor(int ranks) { return R"("tensor": )" + std::to_string(ranks); }

  Library library_ = load_library();
};

TEST_F(TensorLaws, OneRankChangesNothing) {
  for (const char* model : kModels) {
    const Report plain = ask(model, 2, R"("kind": "ddp")");
    const Report one = ask(model, 2, R"("tensor": 1, "sequence_parallel": true)");
    EXPECT_EQ(one.step_time_s.value, plain.step_time_s.value) << model;
    EXPECT_EQ(one.memory.peak, plain.memory.peak) << model;
  }
}

// At the same data-parallel degree and micro-batch.
TEST_F(TensorLaws, MoreRanksNeverNeedMoreMemory) {
  for (const char* model : kModels) {
    for (const char* more : {"", R"(, "sequence_parallel": true)", R"(, "recompute": "selective")",
                             R"(, "sequence_parallel": true, "recompute": "full")",
                             R"(, "kind": "zero1", "micro_batch": 2)"}) {
      for (const char* framework : {"pytorch", "megatron"}) {
        for (const int data : {1, 2}) {
          double before = std::numeric_limits<double>::infinity();
          for (const int ranks : {1, 2, 4, 8}) {
            const Report report =
                ask(model, ranks * data, tensor(ranks) + more,
                    R"(, "precision": "bf16", "framework": ")" + std::string(framework) + '"');
            EXPECT_LE(report.memory.allocated, before)
                << model << more << framework << ranks << 'x' << data;
            before = report.memory.allocated;
          }
        }
      }
    }
  }
}

// Sequence parallelism divides what lies between the regions, too.
TEST_F(TensorLaws, SharingTheSequenceNeedsLessMemory) {
  for (const char* model : kModels) {
    EXPECT_LT(ask(model, 4, R"("tensor": 4, "sequence_parallel": true)").memory.allocated,
              ask(model, 4, R"("tensor": 4)").memory.allocated)
        << model;
  }
}

TEST_F(TensorLaws, InfiniteBandwidthLeavesCompute) {
  const std::string ideal =
      R"(, "framework": "megatron", "precision": "fp16", )"
      R"("intra_node": {"bytes_per_s": 1e13, "latency_s": 0, "efficiency": 1})";
  for (const char* more : {"", R"(, "sequence_parallel": true)"}) {
    const Report real = ask(kModels[0], 4, tensor(4) + more);
    const Report fast = ask(kModels[0], 4, tensor(4) + more, ideal);
    EXPECT_GT(real.breakdown.exposed_communication.count(), 0);
    EXPECT_LT(fast.breakdown.exposed_communication / real.breakdown.exposed_communication, 0.02);
    EXPECT_NEAR(fast.breakdown.compute / real.breakdown.compute, 1, 1e-6);
  }
}

// The batch is that of a data-parallel rank: 8 workers of tensor 4 have two of them.
TEST_F(TensorLaws, ThroughputCountsDataParallelRanks) {
  const Report report = ask(kModels[0], 8, tensor(4), R"(, "samples": 160)");
  EXPECT_NEAR(report.samples_per_s, 2 * 8 / report.step_time_s.value, 1e-6);
  ASSERT_TRUE(report.epoch_time_s);
  EXPECT_NEAR(report.epoch_time_s->value, 10 * report.step_time_s.value, 1e-9);
}

// Gradients are summed among ranks with the same part: half of the parameters, twice the nodes'
// groups.
TEST_F(TensorLaws, WorksBesideShardingAndAccumulation) {
  for (const char* kind : {"ddp", "zero1", "zero2", "fsdp", "horovod"}) {
    const Report report =
        ask(kModels[0], 16,
            R"("tensor": 4, "sequence_parallel": true, "micro_batch": 2, "kind": ")" +
                std::string(kind) + '"');
    EXPECT_GT(report.step_time_s.value, 0) << kind;
  }
}

TEST_F(TensorLaws, RefusesWhatDoesNotFit) {
  const auto kind = [&](const char* model, int workers, const char* strategy) {
    try {
      ask(model, workers, strategy);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Io;
  };
  EXPECT_EQ(kind("resnet18", 2, R"("tensor": 2)"), ErrorKind::Unsupported);
  EXPECT_EQ(kind(kModels[0], 3, R"("tensor": 3)"), ErrorKind::BadInput);
  EXPECT_EQ(kind(kModels[0], 6, R"("tensor": 4)"), ErrorKind::BadInput);
  EXPECT_EQ(kind(kModels[0], 2, R"("tensor": 2, "kind": "ps")"), ErrorKind::Unsupported);
}

}  // namespace
}  // namespace foretrain
