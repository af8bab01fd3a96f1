// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/predict/change.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

const Library& library() {
  static const Library kLibrary = load_library();
  return kLibrary;
}

Request request(const std::string& json) { return parse_request(json, "test"); }

const WhatIf* named(const WhatIfs& all, const std::string& what) {
  const auto found = std::find_if(all.changes.begin(), all.changes.end(),
                                  [&](const WhatIf& one) { return one.what.starts_with(what); });
  return found == all.changes.end() ? nullptr : &*found;
}

constexpr std::array kJobs{
    R"({"model":"resnet50","device":"v100-sxm2-16gb","workers":16,"workers_per_node":4,
        "network":"10gbe","batch":32,"dataset":"imagenet","epochs":90,"input_rate":100})",
    R"({"model":"gpt:layers=4,hidden=256,heads=4,seq=128,vocab=1000","device":"a100","workers":8,
        "batch":8,"optimizer":"adamw","steps":1000,"attention":"math",
        "strategy":{"kind":"fsdp","recompute":"full","micro_batch":2}})",
    R"({"model":"bert-base:layers=2,hidden=128,heads=4,seq=64","device":"t4","batch":"max",
        "optimizer":"adam","samples":100000,"epochs":3})",
    R"({"model":"resnet18:image=64","device":"h100","workers":4,"global_batch":256,
        "precision":"bf16","strategy":"horovod","tokens":1e6})",
    R"({"model":"mlp","device":"cpu:cores=2","workers":2,"workers_per_node":1})"};

// Predictions that are made apart, from the written requests, with nothing kept between them.
TEST(WhatIf, GainsAreDifferencesOfTwoPredictions) {
  for (const char* job : kJobs) {
    const WhatIfs all = what_if(request(job), library());
    const Library fresh = load_library();
    const Report now = predict(request(all.request), fresh);
    EXPECT_EQ(all.now.step_time_s, now.step_time_s.value);
    EXPECT_FALSE(all.changes.empty());
    const Json json = parse_json(to_json(all));
    ASSERT_EQ(json["what_if"].size(), all.changes.size());
    for (std::size_t i = 0; i < all.changes.size(); ++i) {
      const Json& one = json["what_if"][i];
      SCOPED_TRACE(json_text(one));
      const Report then = predict(request(json_text(one["request"])), fresh);
      EXPECT_DOUBLE_EQ(one["sample_time_gain_s"].get<double>(),
                       1 / now.samples_per_s - 1 / then.samples_per_s);
      EXPECT_EQ(one["step_time_s"].get<double>(), then.step_time_s.value);
      EXPECT_EQ(one["peak_gain_bytes"].get<double>(), now.memory.peak - then.memory.peak);
      EXPECT_EQ(one["fits"].get<bool>(), then.memory.fits);
      if (now.total_time_s) {
        EXPECT_DOUBLE_EQ(one["total_time_gain_s"].get<double>(),
                         now.total_time_s->value - then.total_time_s->value);
      }
      // The changes alone lead there as well.
      Json merged = parse_json(all.request);
      merged.merge_patch(one["changes"]);
      EXPECT_EQ(request(json_text(merged)), request(json_text(one["request"])));
    }
  }
}

TEST(WhatIf, TheBestComesFirstAndEachChangesSomething) {
  for (const char* job : kJobs) {
    const WhatIfs all = what_if(request(job), library());
    double before = 0;
    for (const WhatIf& one : all.changes) {
      EXPECT_GE(one.then.sample_time_s, before);
      EXPECT_NE(one.then, all.now) << one.what;
      EXPECT_FALSE(one.options.empty()) << one.what;
      before = one.then.sample_time_s;
    }
  }
}

// Input that comes at 100 samples/s binds: without that limit the step is as long as its kernels.
TEST(WhatIf, OffersWhatAppliesAndNothingElse) {
  const WhatIfs resnet = what_if(request(kJobs[0]), library());
  ASSERT_NE(named(resnet, "input that never limits"), nullptr);
  EXPECT_EQ(resnet.changes.front().what, "input that never limits");
  EXPECT_EQ(named(resnet, "flash attention"), nullptr);        // it has none
  EXPECT_EQ(named(resnet, "no recomputation"), nullptr);       // it does none
  EXPECT_EQ(named(resnet, "8-bit precision"), nullptr);        // a V100 cannot
  EXPECT_NE(named(resnet, "half precision (fp16)"), nullptr);  // nor bf16
  const WhatIfs gpt = what_if(request(kJobs[1]), library());
  for (const char* what : {"half precision (bf16)", "flash attention", "compiled step",
                           "fused optimizer", "no recomputation", "intra-node twice"}) {
    EXPECT_NE(named(gpt, what), nullptr) << what;
  }
  EXPECT_EQ(named(gpt, "network twice"), nullptr);  // one node
  const WhatIfs alone = what_if(request(R"({"model":"mlp","device":"t4"})"), library());
  for (const char* what :
       {"larger gradient", "compressed", "network", "intra-node", "states sharded"}) {
    EXPECT_EQ(named(alone, what), nullptr) << what;
  }
}

// Twice the batch in half the steps is the same work.
TEST(WhatIf, ALargerBatchKeepsTheSamplesOfTheJob) {
  const Request asked = request(R"({"model":"resnet18","device":"t4","batch":8,"steps":1000})");
  const WhatIfs all = what_if(asked, library());
  const WhatIf* larger = named(all, "batch twice as large");
  ASSERT_NE(larger, nullptr);
  const Json changes = parse_json(larger->changes);
  EXPECT_EQ(changes["batch"], 16);
  EXPECT_EQ(changes["steps"], 500);
}

// Where the network is all that takes time, at twice its rate the exchange takes half.
TEST(WhatIf, TwiceTheNetworkHalvesTheExchange) {
  const Request asked = request(
      R"({"model":"vgg16","device":"a100","batch":1,"precision":"bf16","placement":[1,1],
          "strategy":"allreduce","network":{"bytes_per_s":1e7,"latency_s":0,"efficiency":1}})");
  const WhatIfs all = what_if(asked, library());
  const WhatIf* faster = named(all, "network twice as fast");
  ASSERT_NE(faster, nullptr);
  const double sent = predict(asked, library()).communication.count();
  EXPECT_NEAR(all.now.step_time_s - faster->then.step_time_s, sent / 2, 1e-6 * sent);
}

// Four layers of 1024 x 1024 with biases: Adam keeps two values of each parameter and, unless one
// kernel does it all, a third while it updates. All sizes are multiples of 512 bytes.
TEST(FusedOptimizer, NeedsNoTemporaries) {
  const std::string job =
      R"({"model":"mlp:in=1024,hidden=1024,layers=4,classes=1024","device":"t4","batch":1,
          "optimizer":"adam")";
  constexpr double kParameters = 4 * 4 * (1024 * 1024 + 1024);
  const Report plain = predict(request(job + "}"), library());
  const Report fused = predict(request(job + R"(,"fused_optimizer":true})"), library());
  EXPECT_EQ(plain.memory.optimizer, 3 * kParameters);
  EXPECT_EQ(fused.memory.optimizer, 2 * kParameters);
  EXPECT_LT(fused.step_time_s.value, plain.step_time_s.value);
  const Resolved resolved = resolve(request(job + R"(,"fused_optimizer":true})"), library());
  EXPECT_TRUE(resolved.framework->fused_update);
}

TEST(Change, IsTypedAsOptions) {
  const Request before =
      request(R"({"model":"x","input_rate":9,"strategy":{"kind":"fsdp","recompute":"full"}})");
  Request after = before;
  after.precision = Precision::Bf16;
  after.input_rate.reset();
  after.strategy.recompute = "none";
  after.strategy.kind = Parallel::Ddp;
  EXPECT_EQ(change_options(before, after),
            "--precision bf16 --strategy ddp --recompute none without --input-rate");
  EXPECT_EQ(
      changes_json(before, after),
      R"({"precision":"bf16","strategy":{"kind":"ddp","recompute":"none"},"input_rate":null})");
  EXPECT_EQ(changes_json(before, before), "{}");
}

TEST(Change, IsPartOfOneWithMoreFields) {
  const std::string more = R"({"batch":null,"strategy":{"kind":"fsdp","offload":"optimizer"}})";
  EXPECT_TRUE(is_part_of(R"({"strategy":{"kind":"fsdp"}})", more));
  EXPECT_TRUE(is_part_of(R"({"batch":null})", more));
  EXPECT_TRUE(is_part_of(more, more));
  EXPECT_FALSE(is_part_of(R"({"strategy":{"kind":"zero1"}})", more));
  EXPECT_FALSE(is_part_of(R"({"batch":8})", more));
  EXPECT_FALSE(is_part_of(R"({"strategy":{"kind":"fsdp","recompute":"full"}})", more));
}

TEST(Change, CommandsAreQuoted) {
  EXPECT_EQ(predict_command(request(
                R"({"model":"my model's.onnx","placement":[2,2],"network":{"bytes_per_s":1e9}})")),
            R"(foretrain predict 'my model'\''s.onnx' --workers 4 --placement '[2,2]' --network )"
            R"('{"bytes_per_s":1000000000.0}')");
}

}  // namespace
}  // namespace foretrain
