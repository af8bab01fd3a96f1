// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/curves.h"

#include <gtest/gtest.h>

#include "foretrain/graph/op.h"
#include "foretrain/inspector/test_jobs.h"
#include "foretrain/inspector/traffic.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

const std::vector<resource::Level>& levels(const StepCurves& curves, Resource resource) {
  return curves.of[index_of(resource)].levels;
}

double amount(const std::vector<resource::Level>& levels) {
  double sum = 0;
  for (const resource::Level& one : levels) sum += one.amount * (one.end - one.start).count();
  return sum;
}

// A step that is made by hand: of the real one two kernels are kept, the first from 0 to 1 s, the
// second from 2 s to 2.5 s. The second's memory activity is its bytes over what the device's memory
// could move in that time.
TEST(Curves, OfTwoKernelsAreTheirTimesAndBytes) {
  Job job(job_of("mlp"));
  operators::Stages& stages = job.stages;
  const operators::WorkerClass& worker = operators::slowest_class(stages);
  std::vector<sim::Task>& tasks = stages.program.program.tasks;
  std::vector<sim::Task> kernels;
  for (const sim::Task& task : tasks) {
    if (task.kind == operators::kKernelTask && task.resource == worker.stream &&
        kernels.size() < 2) {
      kernels.push_back(task);
    }
  }
  ASSERT_EQ(kernels.size(), 2U);
  tasks = kernels;
  stages.program.transfers.clear();
  stages.timeline.spans = {{Seconds{0}, Seconds{1}}, {Seconds{2}, Seconds{2.5}}};
  stages.timeline.end = Seconds{3};
  const StepCurves curves = curves_of(stages, job.resolved, Role::Worker);
  EXPECT_EQ(curves.period, Seconds{3});
  const auto& device = levels(curves, Resource::Device);
  ASSERT_EQ(device.size(), 2U);
  EXPECT_EQ(device[0].end, Seconds{1});
  EXPECT_EQ(device[1].start, Seconds{2});
  EXPECT_EQ(device[1].amount, 100);
  EXPECT_DOUBLE_EQ(amount(device), 150);
  const auto& memory = levels(curves, Resource::Memory);
  ASSERT_EQ(memory.size(), 2U);
  const graph::Node& node = stages.step->graph.nodes[static_cast<std::size_t>(kernels[1].tag)];
  const graph::Work work = graph::work({stages.bound, node});
  const double could_move =
      0.5 * operators::slowest_device(stages, job.resolved).memory_bytes_per_s;
  EXPECT_DOUBLE_EQ(memory[1].amount, 100 * (work.read_bytes + work.written_bytes) / could_move);
  EXPECT_TRUE(levels(curves, Resource::Transmit).empty());
}

// What a curve carries over a step are the bytes of its transfers.
TEST(Curves, OfTheNetworkCarryTheBytesThatAreMoved) {
  const Job job(job_of("resnet18-cifar"));
  const StepCurves curves = curves_of(job.stages, job.resolved, Role::Worker);
  double sent = 0;
  for (const operators::Transfer& one : job.stages.program.transfers) {
    sent += one.traffic.worker_tx_bytes;
  }
  EXPECT_GT(sent, 0);
  EXPECT_NEAR(amount(levels(curves, Resource::Transmit)), sent, 1e-9 * sent);
  // 1 Gbit/s, of which long transfers reach 93 %.
  EXPECT_DOUBLE_EQ(curves.of[index_of(Resource::Transmit)].split.scale, 0.93 * 125e6);
}

TEST(Curves, OfAServerShowWhatItReceivesAndUpdates) {
  const Job job(job_of("resnet18-cifar", kServers));
  const StepCurves server = curves_of(job.stages, job.resolved, Role::Server);
  EXPECT_GT(amount(levels(server, Resource::Device)), 0);
  EXPECT_GT(amount(levels(server, Resource::Receive)), 0);
  // One server exchanges with both workers.
  const StepCurves worker = curves_of(job.stages, job.resolved, Role::Worker);
  EXPECT_GT(amount(levels(server, Resource::Receive)), amount(levels(worker, Resource::Transmit)));
}

// Bytes of an operator that is issued in several kernels are spread over them, none is counted
// twice: over the step the curve carries what the operators, and the exchange, move. An all-reduce
// is counted when it begins with its bucket in and out, then its sums are read and written back: 4
// passes over the gradients.
TEST(Curves, OfMemoryCarryTheBytesThatAreMoved) {
  const Job job(job_of("resnet18-cifar", R"(, "optimizer": "adam")"));
  const hw::Device& device = operators::slowest_device(job.stages, job.resolved);
  double bytes = 0;
  for (const Moved& one : moved_bytes(job.stages.bound, job.resolved.optimizer, device)) {
    bytes += one.bytes + one.bytes_at_end + one.bytes_at_speed;
  }
  for (const graph::ParameterGradient& one : job.stages.step->gradients) {
    bytes += 4 * job.stages.bound.bytes(one.gradient);
  }
  const StepCurves curves = curves_of(job.stages, job.resolved, Role::Worker);
  const double carried = amount(levels(curves, Resource::Memory)) / 100 * device.memory_bytes_per_s;
  EXPECT_NEAR(carried / bytes, 1, 1e-6);
}

// Time steps of a plain recurrent layer are seen where each takes a millisecond or more: its GEMM,
// then the operators on its gates, which move more in less time.
TEST(Curves, OfMemoryShowTimeSteps) {
  const std::string model = R"({"model": "random:family=lstm,seed=7,seq=32", "workers": 2,)"
                            R"( "workers_per_node": 1, "network": "1gbps",)"
                            R"( "device": "cpu:cores=1", "batch": )";
  const auto levels_with = [&](const char* batch) {
    const Job job(model + batch + "}");
    return levels(curves_of(job.stages, job.resolved, Role::Worker), Resource::Memory).size();
  };
  EXPECT_GE(levels_with("1024"), levels_with("2") + 64);
}

TEST(Curves, AreInTheOrderOfTheirBeginnings) {
  const Job job(job_of("resnet18-cifar"));
  const StepCurves curves = curves_of(job.stages, job.resolved, Role::Worker);
  for (const Curve& curve : curves.of) {
    for (std::size_t i = 1; i < curve.levels.size(); ++i) {
      EXPECT_LE(curve.levels[i - 1].start, curve.levels[i].start);
    }
  }
}

}  // namespace
}  // namespace foretrain::inspector
