// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/operators/stages.h"
#include "foretrain/operators/trace.h"
#include "foretrain/request/find_model.h"

namespace foretrain {
namespace {

class Predict : public testing::Test {
 protected:
  Report report(const std::string& fields) {
    return predict(parse_request("{" + fields + "}", "test"), library_);
  }
  operators::Stages stages(const std::string& fields) {
    resolved_ = resolve(parse_request("{" + fields + "}", "test"), library_);
    return operators::run_stages(resolved_, library_);
  }
  ErrorKind error(const std::string& fields) {
    try {
      report(fields);
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      return e.kind();
    }
    ADD_FAILURE() << "no error: " << fields;
    return ErrorKind::Io;
  }

  Library library_ = load_library();
  Resolved resolved_;
};

const char* const kVgg =
    R"("model":"vgg16","device":"v100-sxm2-16gb","batch":16,"network":"10gbe")";

TEST_F(Predict, DdpHidesWhatPlainAllReduceExposes) {
  const Report ddp = report(std::string(kVgg) + R"(,"placement":[1,1])");
  const Report plain = report(std::string(kVgg) + R"(,"placement":[1,1],"strategy":"allreduce")");
  EXPECT_LT(ddp.step_time_s.value, plain.step_time_s.value);
  EXPECT_LT(ddp.breakdown.exposed_communication, ddp.communication);
  EXPECT_NEAR(plain.breakdown.exposed_communication / plain.communication, 1, 1e-9);
}

// The slower of two workers: the largest of two normal numbers lies 0.5895 deviations above the
// mean (Blom), 1 + 0.03 * 0.5895.
constexpr double kSlowestOfTwo = 1.017685;

// AdamW's 8 operators for each of VGG-16's 32 tensors: the host needs 8 * 32 * 12 + 32 * 2 + 100 us
// = 3.236 ms for them. A device that is slower begins after an eighth of that; one that is faster
// ends an eighth of its own work after the host.
TEST_F(Predict, AnUpdateOverlapsItsLaunches) {
  const std::string vgg = R"("model":"vgg16","framework":"pytorch-1","batch":1,"device":"v100")";
  const auto tail = [&](const std::string& rest) {
    const Report report_of = report(vgg + rest);
    return report_of.phases.update.count();
  };
  const double device = 21 * 4.0 * 138357544 / (0.91 * 900e9);  // passes over bandwidth: 14.19 ms
  EXPECT_NEAR(tail(R"(,"optimizer":"adamw","host_speed":100)"), device, 0.05 * device);
  EXPECT_NEAR(tail(R"(,"optimizer":"adamw","host_speed":0.1)"), 32.36e-3 + device / 8,
              0.05 * device);
}

// TensorFlow's device waits 5 ms for each pass' call and 0.5 * 53 us for its first convolution's
// launch; behind a batch of 64 the host hides everything else.
TEST_F(Predict, ACallPerPassKeepsTheDeviceWaiting) {
  const std::string vgg = R"("model":"vgg16","device":"v100","framework":"tensorflow","batch":64)";
  EXPECT_NEAR(report(vgg + R"(,"host_speed":1)").breakdown.host.count(), 5.0265e-3, 1e-6);
  EXPECT_NEAR(report(vgg + R"(,"host_speed":2)").breakdown.host.count(), 2.51325e-3, 1e-6);
  // Four calls; a quarter of the batch hides less of the first launches, 1 ms of them at most.
  const Report four = report(vgg + R"(,"host_speed":1,"strategy":{"micro_batch":16})");
  EXPECT_GT(four.breakdown.host.count(), 20e-3);
  EXPECT_LT(four.breakdown.host.count(), 21e-3);
}

// AdaptDL's host begins statistics and update of VGG-16's 32 tensors when the device is done, so
// all of it counts, at half of what operators cost elsewhere: with 10 of them each
// 32 (10 * 6 + 1) + 50 + 500 us = 2.502 ms; nine more where one worker is alone: 4.230 ms.
// PyTorch's update is hidden behind the device.
TEST_F(Predict, AHostThatWaitsForTheDeviceAddsItsUpdate) {
  const std::string vgg = std::string(kVgg) + R"(,"optimizer":"sgd","host_speed":1,"framework":)";
  const Report hidden = report(vgg + R"("pytorch-1")");
  const Report waits = report(vgg + R"("adaptdl")");
  EXPECT_NEAR((waits.breakdown.host - hidden.breakdown.host).count(), 4.230e-3, 1e-6);
  const Report two = report(vgg + R"("adaptdl","placement":[1,1],"strategy":"allreduce")");
  EXPECT_NEAR((two.breakdown.host / kSlowestOfTwo - hidden.breakdown.host).count(), 2.502e-3, 1e-6);
  EXPECT_NEAR(two.breakdown.exposed_communication / two.communication, 1, 1e-6);
}

// The MLP's 6 gradients, 4 x 669,706 bytes: 6 x 70 us + 2.679 MB x 0.31 ns = 1.250 ms beyond one
// worker's time; a GPU has others to do that.
TEST_F(Predict, ACpuExchangesGradientsItself) {
  const auto busy = [this](const std::string& rest) {
    const Breakdown parts = report(R"("model":"mlp","batch":32,)" + rest).breakdown;
    return (parts.compute + parts.memory).count();
  };
  EXPECT_NEAR(busy(R"("device":"cpu:cores=1","workers":2)") - busy(R"("device":"cpu:cores=1")"),
              1.2504e-3, 1e-6);
  const std::string passes = R"("device":"cpu:cores=1","strategy":{"micro_batch":8})";
  EXPECT_NEAR(busy(passes + R"(,"workers":2)") - busy(passes), 1.2504e-3, 1e-6);
  const double alone = busy(R"("device":"t4")");
  const std::string two = R"("device":"t4","placement":[1,1],"strategy":"allreduce")";
  EXPECT_NEAR(busy(two) / alone, kSlowestOfTwo, 1e-5);
}

// DDP copies gradients into buckets and sums back, on the T4 at 0.76 of 320 GB/s: VGG-16's 553 MB
// are read and written twice, by 64 kernels of 4 us. ResNet-18's 62 gradients take 2 x 12 us each
// of a host that a single image keeps busy throughout.
TEST_F(Predict, DdpCopiesGradientsToBucketsAndBack) {
  const std::string two = R"("device":"t4","placement":[1,1],"optimizer":"none","host_speed":1,)"
                          R"("network":{"bytes_per_s":1e13,"latency_s":0},"strategy":)";
  const auto longer = [&](const std::string& model) {
    const double copied = report(two + R"("ddp",)" + model).step_time_s.value;
    return copied - report(two + R"("allreduce",)" + model).step_time_s.value;
  };
  const double vgg = kSlowestOfTwo * (16.0 * 138357544 / (0.76 * 320e9) + 64 * 4e-6);
  EXPECT_NEAR(longer(R"("model":"vgg16","batch":16)"), vgg, 0.02 * vgg);
  const double resnet = kSlowestOfTwo * 62 * 2 * 12e-6;
  EXPECT_NEAR(longer(R"("model":"resnet18","batch":1)"), resnet, 0.05 * resnet);
  EXPECT_NEAR(longer(R"("model":"vgg16","batch":16,"framework":"adaptdl")"), 0, 0.02 * vgg);
}

// VGG-16's 138,357,544 gradients are 553 MB: a first bucket of 1 MiB, then whole layers until
// 25 MiB are full; the bytes of all buckets are those of all gradients.
TEST_F(Predict, BucketsHoldEveryGradientOnce) {
  const operators::Stages s = stages(std::string(kVgg) + R"(,"placement":[1,1])");
  double bytes = 0;
  int buckets = 0;
  for (const graph::Node& node : s.step->graph.nodes) {
    if (node.kind != graph::Kind::AllReduce) continue;
    ++buckets;
    for (const graph::TensorId id : node.inputs) bytes += s.bound.bytes(id);
  }
  EXPECT_EQ(bytes, 4.0 * 138357544);
  EXPECT_GT(buckets, 3);
}

// Three ranks agree on the last exchange after 3/4 of a cycle of 5 ms. XLA hands out all gradients
// at the end, so there is one exchange; else VGG-16's 553 MB are some.
TEST_F(Predict, HorovodExchangesInCycles) {
  const std::string three = R"("model":"vgg16","batch":64,"device":"v100","placement":[1,1,1],)"
                            R"("network":{"bytes_per_s":1e13,"latency_s":0},"strategy":)";
  const auto exchange = [&](const std::string& rest) {
    return report(three + rest).communication.count();
  };
  EXPECT_NEAR(exchange(R"("horovod")"), 3.75e-3 + exchange(R"("allreduce")"), 1e-6);
  const auto exchanges = [&](const std::string& rest) {
    return stages(three + R"("horovod")" + rest).program.transfers.size();
  };
  EXPECT_EQ(exchanges(R"(,"framework":"tensorflow-xla")"), 1U);
  EXPECT_GT(exchanges(R"(,"framework":"tensorflow")"), 2U);
}

// A pull, and a push of each of VGG-16's 32 variables.
TEST_F(Predict, VariablesTravelToServersOneByOne) {
  const operators::Stages s = stages(std::string(kVgg) + R"(,"placement":[1,1],"strategy":"ps")");
  const auto sent = std::count_if(
      s.program.program.tasks.begin(), s.program.program.tasks.end(),
      [](const sim::Task& task) { return task.kind == operators::kCommunicationTask; });
  EXPECT_EQ(sent, 33);
}

TEST_F(Predict, AModelInMemoryGivesTheReportOfItsName) {
  const Request named = parse_request("{" + std::string(kVgg) + "}", "test");
  Request anonymous = named;
  anonymous.model = "mine";
  EXPECT_EQ(to_json(predict(anonymous, std::make_shared<const graph::Graph>(find_model("vgg16")),
                            library_)),
            to_json(predict(named, library_)));
}

TEST_F(Predict, AnUnevenPlacementRunsAtTheSpeedOfItsSlowestLink) {
  const double even = report(std::string(kVgg) + R"(,"placement":[4,4])").step_time_s.value;
  const double uneven = report(std::string(kVgg) + R"(,"placement":[3,5])").step_time_s.value;
  EXPECT_NEAR(uneven / even, 1, 0.1);
}

TEST_F(Predict, AMixedClusterWaitsForItsSlowestDevice) {
  const std::string model = R"("model":"resnet50","batch":32,)";
  const double slow =
      report(model + R"("device":"t4","placement":[1,1],"network":"100gbe")").step_time_s.value;
  const double fast =
      report(model + R"("device":"a100-sxm4-80gb","placement":[1,1],"network":"100gbe")")
          .step_time_s.value;
  const double mixed =
      report(
          model +
          R"("cluster":{"nodes":[{"device":"t4"},{"device":"a100-sxm4-80gb"}],"network":"100gbe"})")
          .step_time_s.value;
  EXPECT_LT(fast, slow);
  EXPECT_NEAR(mixed / slow, 1, 0.02);
}

// The update runs once in a step of several passes, all else in each, so that its share of the
// kernels is that of the step.
TEST_F(Predict, OperatorsCountInEveryPass) {
  const std::string job = R"("model":"gpt3-small","device":"a100","precision":"bf16",)"
                          R"("optimizer":"adamw","batch":8,"strategy":{"micro_batch":)";
  const auto of = [&](const Report& one, const char* kind) {
    const auto found = std::find_if(one.top_operators.begin(), one.top_operators.end(),
                                    [&](const OperatorReport& op) { return op.kind == kind; });
    EXPECT_NE(found, one.top_operators.end()) << kind;
    return *found;
  };
  const Report once = report(R"("model":"gpt3-small","device":"a100","precision":"bf16",)"
                             R"("optimizer":"adamw","batch":1)");
  const Report eight = report(job + "1}");
  EXPECT_DOUBLE_EQ(of(eight, "adamw").time.count(), of(once, "adamw").time.count());
  EXPECT_DOUBLE_EQ(of(eight, "cross_entropy_grad").time.count(),
                   8 * of(once, "cross_entropy_grad").time.count());
  const double update = eight.phases.update.count() / eight.step_time_s.value;
  // A tenth of so short passes is none of the kernels.
  EXPECT_NEAR(of(eight, "adamw").share, update, 0.15 * update);
}

// The smaller memory is named, wherever its nodes stand.
TEST_F(Predict, AMixedClusterSaysWhoseMemoryIsTooSmall) {
  for (const char* nodes : {R"([{"device":"t4"},{"device":"a100-sxm4-80gb"}])",
                            R"([{"device":"a100-sxm4-80gb"},{"device":"t4"}])"}) {
    const Report mixed = report(R"("model":"gpt3-1.3b","batch":1,"optimizer":"adam","cluster":{)"
                                R"("network":"100gbe","nodes":)" +
                                std::string(nodes) + "}");
    ASSERT_FALSE(mixed.memory.fits);
    EXPECT_NE(mixed.warnings.front().find("memory of t4"), std::string::npos)
        << mixed.warnings.front();
  }
}

// The FLOPs of the model are those of all ranks: that one of them has twice the mean takes time
// and adds none. A step that takes longer has the smaller share of the peak.
TEST_F(Predict, AnUnevenRouterAddsNoFlops) {
  const std::string job =
      R"("model":"mixtral-8x7b:seq=512","device":"h100-sxm5-80gb","workers":8,)"
      R"("batch":2,"precision":"bf16","strategy":{"expert":8,"expert_imbalance":)";
  const Report even = report(job + "1}");
  const Report uneven = report(job + "2}");
  EXPECT_GT(uneven.step_time_s.value, even.step_time_s.value);
  EXPECT_NEAR(*uneven.mfu * uneven.step_time_s.value, *even.mfu * even.step_time_s.value,
              1e-9 * *even.mfu * even.step_time_s.value);
  EXPECT_NE(std::find(uneven.assumptions.begin(), uneven.assumptions.end(),
                      "expert_imbalance: of 8 ranks the busiest has 2.00 times the mean of the "
                      "tokens; the others wait for it"),
            uneven.assumptions.end());
}

// ZeroRedundancyOptimizer's and flat buffers' gradients go in their own type, DDP only shortens
// them; what is asked for otherwise is told not to be done.
TEST_F(Predict, SaysWhereGradientsKeepTheirType) {
  const auto told = [&](const std::string& kind, const std::string& type, const char* framework) {
    const Report given = report(
        R"("model":"mlp","device":"a100","workers":8,"batch":8,"precision":"bf16","framework":")" +
        std::string(framework) + R"(","strategy":{"kind":")" + kind +
        R"(","gradient_precision":")" + type + "\"}");
    return std::any_of(
        given.assumptions.begin(), given.assumptions.end(),
        [](const std::string& line) { return line.starts_with("gradient_precision "); });
  };
  EXPECT_TRUE(told("zero1", "bf16", "pytorch"));
  EXPECT_TRUE(told("zero2", "fp32", "deepspeed"));
  EXPECT_TRUE(told("ddp", "fp32", "megatron"));
  EXPECT_FALSE(told("zero2", "bf16", "pytorch"));
  EXPECT_FALSE(told("fsdp", "bf16", "deepspeed"));
  EXPECT_FALSE(told("ddp", "bf16", "pytorch"));
  EXPECT_FALSE(told("ddp", "fp32", "pytorch"));  // as they are
}

// Only servers are asynchronous: who asks DDP for it is told that it has no effect, and it has
// none.
TEST_F(Predict, AsynchronousDdpIsDdp) {
  const std::string job = R"("model":"resnet18","device":"t4","workers":8,"batch":8,"strategy":)";
  EXPECT_EQ(report(job + R"({"kind":"ddp","asynchronous":true})").step_time_s.value,
            report(job + R"({"kind":"ddp"})").step_time_s.value);
}

// Eight normal numbers: the largest lies 1.434 deviations above the mean (Blom), so the slowest of
// eight workers takes 1 + 0.03 * 1.434 = 1.0430 of the mean; four passes halve what varies. Workers
// that wait for nobody keep their own time.
TEST_F(Predict, AnExchangeWaitsForTheSlowestWorker) {
  const std::string base =
      R"("model":"vgg16","batch":64,"network":{"bytes_per_s":1e13,"latency_s":0})";
  const auto longer = [&](const std::string& fields) {
    const std::string together = base + R"(,"placement":[1,1,1,1,1,1,1,1],)" + fields;
    return report(together).step_time_s.value / report(base + "," + fields).step_time_s.value;
  };
  const std::string one = R"("device":"v100","strategy":"allreduce")";
  EXPECT_NEAR(longer(one), 1.0430, 1e-3);
  const std::string four = R"("device":"v100","strategy":{"kind":"allreduce","micro_batch":16})";
  EXPECT_NEAR(longer(four), 1.0215, 1e-3);
  EXPECT_NEAR(longer(R"("mode":"inference",)" + one), 1, 1e-9);
  const std::string described = R"("device":{"name":"mine","fp32_flops_per_s":15e12,)"
                                R"("memory_bytes":16e9,"memory_bytes_per_s":900e9})";
  EXPECT_NEAR(longer(described + R"(,"strategy":"allreduce")"), 1.0430, 1e-3);
}

// T_n = T_1 + 90 us n p + 2 bytes / rate: with p = 32 tensors for VGG-16, which the device binds,
// and 62 for ResNet-18 with one image, which the host binds.
TEST_F(Predict, DataParallelFollowsItsFormula) {
  const std::string base =
      R"("device":"titan-xp","intra_node":{"bytes_per_s":1e10,"latency_s":0,"efficiency":1})";
  const std::string three = base + R"(,"workers":3,"strategy":"dataparallel")";
  const auto added = [&](const std::string& model) {
    return report(three + model).step_time_s.value - report(base + model).step_time_s.value;
  };
  const double vgg = 90e-6 * 3 * 32 + 2 * 4.0 * 138357544 / 1e10;
  EXPECT_NEAR(added(R"(,"model":"vgg16","batch":12)"), vgg, 2e-3 * vgg);
  const double resnet = 90e-6 * 3 * 62 + 2 * 4.0 * 11689512 / 1e10;
  EXPECT_NEAR(added(R"(,"model":"resnet18","batch":1,"optimizer":"none")"), resnet, 0.01 * resnet);
  EXPECT_EQ(error(base + R"(,"model":"vgg16","placement":[1,1],"strategy":"dataparallel")"),
            ErrorKind::Unsupported);
}

// Four passes of 8 take four times one of 8 but for the update and the exchange, which come once;
// they hold the activations of 8.
TEST_F(Predict, PassesAddUpBeforeOneUpdate) {
  const std::string base = R"("model":"vgg16","device":"v100","optimizer":"none")";
  const Report one = report(base + R"(,"batch":8,"framework":"pytorch-1")");
  const Report four =
      report(base + R"(,"batch":32,"framework":"pytorch-1","strategy":{"micro_batch":8})");
  const double zeroing = one.step_time_s.value - one.breakdown.compute.count();
  EXPECT_NEAR(four.breakdown.compute.count(), 4 * one.breakdown.compute.count(), 1e-9);
  EXPECT_LT(four.step_time_s.value, 4 * one.step_time_s.value);
  EXPECT_GT(four.step_time_s.value, 4 * one.step_time_s.value - 3 * zeroing);
  EXPECT_DOUBLE_EQ(four.memory.activations, one.memory.activations);
  // Zeroing counts as forward; four passes do it once.
  const double share = four.phases.forward / (four.phases.forward + four.phases.backward);
  EXPECT_LT(share, one.phases.forward / (one.phases.forward + one.phases.backward));
  EXPECT_GT(share, 0.25);
  const auto exposed = [&](const char* fields) {
    return report(base + R"(,"workers":2,"strategy":)" + fields).communication.count();
  };
  EXPECT_DOUBLE_EQ(exposed(R"("ddp","batch":32)"),
                   exposed(R"({"kind":"ddp","micro_batch":8},"batch":32)"));
  EXPECT_EQ(error(base + R"(,"batch":10,"strategy":{"micro_batch":4})"), ErrorKind::BadInput);
}

// A limit slows arithmetic, in proportion at most; one above the datasheet's changes nothing.
TEST_F(Predict, APowerLimitSlowsProducts) {
  const std::string base = R"("model":"vgg16","device":"v100-sxm2-16gb","batch":32)";
  const double full = report(base).step_time_s.value;
  const double half = report(base + R"(,"power_limit_w":150)").step_time_s.value;
  const double eighth = report(base + R"(,"power_limit_w":37.5)").step_time_s.value;
  EXPECT_DOUBLE_EQ(report(base + R"(,"power_limit_w":400)").step_time_s.value, full);
  EXPECT_GT(half, full);
  EXPECT_GT(eighth, 2 * half);
  EXPECT_LT(eighth, 4 * half);
}

// A convolution of an fp32 step that runs in TF32 counts by 19.5 / 156 = 1/8, the ratio of the
// A100's peaks: VGG-16 has 3 * 15.347 GMAC in convolutions but the gradient of the image (0.087),
// and 3 * 0.124 GMAC in layers that stay in fp32.
TEST_F(Predict, ShareOfThePeakCountsTf32ByItsOwnPeak) {
  const std::string base = R"("model":"vgg16","device":"a100-sxm4-40gb","batch":64)";
  const auto flops = [](const Report& report) {
    return *report.mfu * report.step_time_s.value * 19.5e12 / (64 * 2e9);
  };
  const double convolutions = 3 * 15.347 - 0.087;
  EXPECT_NEAR(flops(report(base + R"(,"precision":"fp32-ieee")")), convolutions + 0.371, 0.01);
  EXPECT_NEAR(flops(report(base)), convolutions / 8 + 0.371, 0.01);
}

TEST_F(Predict, MoreServersShortenTheExchange) {
  const std::string base =
      std::string(kVgg) + R"(,"placement":[1,1,1,1],"strategy":{"kind":"ps","servers":)";
  const double one = report(base + "1}").step_time_s.value;
  const double four = report(base + "4}").step_time_s.value;
  EXPECT_LT(four, one);
  const Report async = report(base + R"(1,"asynchronous":true})");
  ASSERT_TRUE(async.resources.server.has_value());
  EXPECT_TRUE(async.resources.server->net_tx.has_value());
  EXPECT_FALSE(async.resources.server->gpu_util.has_value());
}

TEST_F(Predict, InferenceTakesLessThanTraining) {
  const std::string base = R"("model":"resnet50","device":"t4","batch":16)";
  const Report train = report(base);
  const Report inference = report(base + R"(,"mode":"inference")");
  EXPECT_LT(inference.step_time_s.value, train.step_time_s.value / 2);
  EXPECT_LT(inference.memory.allocated, train.memory.allocated / 2);
  EXPECT_EQ(inference.memory.gradients, 0);
}

TEST_F(Predict, TrainingOnlyTheHeadOrAdaptersCostsLess) {
  const std::string base =
      R"("model":"gpt2","device":"a100","batch":4,"precision":"bf16","optimizer":"adamw")";
  const Report all = report(base);
  const Report lora = report(base + R"(,"trainable":"lora:rank=16")");
  const Report head = report(base + R"(,"trainable":"head")");
  EXPECT_LT(lora.memory.optimizer, 0.1 * all.memory.optimizer);
  EXPECT_LT(lora.memory.allocated, all.memory.allocated);
  EXPECT_LT(head.step_time_s.value, all.step_time_s.value);
}

TEST_F(Predict, ACompilerMakesTheStepFasterNotTheProductsFewer) {
  const std::string base =
      R"("model":"bert-base:seq=128","device":"a100","batch":8,"precision":"fp16")";
  const operators::Stages eager = stages(base);
  const operators::Stages compiled = stages(base + R"(,"framework":"pytorch-compile")");
  EXPECT_LT(compiled.timeline.end, eager.timeline.end);
  EXPECT_DOUBLE_EQ(compiled.program.gemm_flops, eager.program.gemm_flops);
}

TEST_F(Predict, RefusesWhatItCannotDo) {
  EXPECT_EQ(error(R"("model":"resnet5","device":"v100")"), ErrorKind::NotFound);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v1000")"), ErrorKind::NotFound);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","framework":"torch")"),
            ErrorKind::NotFound);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","dataset":"imagent","epochs":1)"),
            ErrorKind::NotFound);
  EXPECT_EQ(error(R"("model":"resnet50")"), ErrorKind::BadInput);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","epochs":1)"), ErrorKind::BadInput);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","workers":3,"global_batch":32)"),
            ErrorKind::BadInput);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","batch":1000000000)"), ErrorKind::BadInput);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","strategy":{"tensor":2})"),
            ErrorKind::BadInput);  // of one worker
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","workers":2,"strategy":{"tensor":2})"),
            ErrorKind::Unsupported);
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","engine":"embedding")"),
            ErrorKind::BadInput);  // it needs one of the predictors
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","engine":"scaling")"),
            ErrorKind::BadInput);  // it needs one of the predictors
  EXPECT_EQ(error(R"("model":"resnet50","device":"v100","engine":"inspector")"),
            ErrorKind::BadInput);  // it needs one of the predictors
  EXPECT_EQ(error(R"("model":"missing.ftg.json","device":"v100")"), ErrorKind::Io);
}

TEST_F(Predict, AServerReadsNoFileThatAClientNames) {
  library_.read_files = false;
  for (const char* field :
       {R"("model":"x.ftg.json","device":"v100")", R"("model":"resnet18","device":"x.json")",
        R"("model":"resnet18","cluster":"x.json")"}) {
    EXPECT_EQ(error(field), ErrorKind::BadInput) << field;
  }
}

TEST_F(Predict, ManyThreadsShareOneLibraryAndAgree) {
  const std::string fields = R"("model":"resnet18","device":"v100","batch":8,"workers":4)";
  const std::string expected = to_json(report(fields));
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (std::string& answer : answers) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) answer = to_json(report(fields));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& answer : answers) EXPECT_EQ(answer, expected);
}

TEST_F(Predict, EveryStageCanBeLookedAt) {
  const operators::Stages s = stages(R"("model":"resnet18","device":"v100","batch":8,"workers":2)");
  EXPECT_EQ(parse_json(operators::dump_stage(s, resolved_, "tasks"), "tasks").size(),
            s.program.program.tasks.size());
  const Json timeline = parse_json(operators::dump_stage(s, resolved_, "timeline"), "timeline");
  EXPECT_DOUBLE_EQ(timeline.back().at("end_s").get<double>(), s.timeline.end.count());
  EXPECT_FALSE(parse_json(operators::dump_stage(s, resolved_, "graph"), "graph").empty());
  EXPECT_THROW(operators::dump_stage(s, resolved_, "grph"), Error);
  const Json trace = parse_json(operators::to_chrome_trace(s, resolved_.cluster), "trace");
  EXPECT_GT(trace.at("traceEvents").size(), s.program.program.tasks.size());
}

TEST_F(Predict, ResourcesOfASlowNetworkAlternate) {
  const Report r = report(std::string(kVgg) + R"(,"placement":[1,1],"strategy":"allreduce")");
  ASSERT_TRUE(r.resources.worker.net_tx.has_value());
  const resource::Bursts& tx = r.resources.worker.net_tx->bursts;
  EXPECT_EQ(tx.pattern, resource::Pattern::BIB);
  // Two nodes send 2 (2-1)/2 of 553 MB at 0.93 of 10 Gb/s in every step.
  EXPECT_NEAR(*tx.burst_amount, 0.93 * 1.25e9, 0.1e9);
  EXPECT_NEAR(tx.burst->count() + tx.idle->count(), r.step_time_s.value,
              0.05 * r.step_time_s.value);
}

}  // namespace
}  // namespace foretrain
