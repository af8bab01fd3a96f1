// SPDX-License-Identifier: Apache-2.0
// Laws of sharded training, on models of several kinds.
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

constexpr const char* kModels[] = {"gpt:layers=4,hidden=256,heads=4,seq=128,vocab=1000", "resnet18",
                                   "bert-base:seq=64"};
constexpr const char* kSharded[] = {"fsdp", "zero1", "zero2", "zero3"};

class ShardingLaws : public testing::Test {
 protected:
  Report ask(const std::string& model, const std::string& strategy, int workers,
             const std::string& more = "") const {
    return predict(
        parse_request(R"({"model": ")" + model +
                          R"(", "device": "a100", "network": "hdr", "batch": 4, )" +
                          R"("optimizer": "adam", "workers": )" + std::to_string(workers) +
                          R"(, "strategy": )" + strategy + more + "}",
                      "test"),
        library_);
  }
  static std::string kind(const char* name) { return '"' + std::string(name) + '"'; }

  Library library_ = load_library();
};

TEST_F(ShardingLaws, OnOneRankAllIsDdp) {
  for (const char* model : kModels) {
    const Report ddp = ask(model, R"("ddp")", 1);
    for (const char* strategy : kSharded) {
      const Report sharded = ask(model, kind(strategy), 1);
      EXPECT_EQ(sharded.step_time_s.value, ddp.step_time_s.value) << model << ' ' << strategy;
      EXPECT_EQ(sharded.memory.peak, ddp.memory.peak) << model << ' ' << strategy;
    }
  }
}

// From two ranks on: one alone exchanges nothing and needs no buffers for it.
TEST_F(ShardingLaws, MoreRanksNeverNeedMoreMemory) {
  std::vector<std::string> models(std::begin(kModels), std::end(kModels));
  models.emplace_back("llama:layers=2,hidden=256,heads=4,ffn=512,seq=64,vocab=1024,experts=4");
  for (const std::string& model : models) {
    for (const char* strategy : kSharded) {
      for (const char* framework : {"pytorch", "deepspeed"}) {
        double before = std::numeric_limits<double>::infinity();
        for (const int workers : {2, 4, 8, 16, 64}) {
          const Report report =
              ask(model, kind(strategy), workers,
                  R"(, "precision": "bf16", "framework": ")" + std::string(framework) + '"');
          EXPECT_LE(report.memory.allocated, before)
              << model << ' ' << strategy << ' ' << framework << ' ' << workers;
          before = report.memory.allocated;
        }
      }
    }
  }
}

// ZeRO-3 has less than ZeRO-2, this less than ZeRO-1, this less than DDP.
TEST_F(ShardingLaws, EachStageNeedsLess) {
  double before = std::numeric_limits<double>::infinity();
  for (const char* strategy : {"ddp", "zero1", "zero2", "zero3"}) {
    const double bytes = ask(kModels[0], kind(strategy), 8).memory.allocated;
    EXPECT_LT(bytes, before) << strategy;
    before = bytes;
  }
}

// A smaller group keeps larger shards and sends less between nodes.
TEST_F(ShardingLaws, HybridShardingTradesMemoryForTraffic) {
  const Report full = ask(kModels[0], R"("fsdp")", 32);
  const Report hybrid = ask(kModels[0], R"({"kind": "fsdp", "shard_group": 8})", 32);
  EXPECT_GT(hybrid.memory.allocated, full.memory.allocated);
  EXPECT_LT(hybrid.sent_bytes, full.sent_bytes);
}

}  // namespace
}  // namespace foretrain
