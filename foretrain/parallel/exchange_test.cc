// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/exchange.h"

#include <gtest/gtest.h>

#include <numeric>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/request/find_model.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;

// Two linear layers of 1000 x 500 and 500 x 10: gradients of 2,000,000 + 2,000 and 20,000 + 40
// bytes, those of the second layer complete first. Over links of 1 GB/s without latency.
constexpr const char* kModel = "mlp:in=1000,hidden=500,layers=2,classes=10";
constexpr double kBytes = 2'022'040;

class Exchanges : public testing::Test {
 protected:
  void prepare(const std::string& strategy, const std::string& more = R"("placement": [1, 1])") {
    const std::string text =
        R"({"model": ")" + std::string(kModel) + R"(", "device": "t4", "strategy": )" + strategy +
        R"(, "network": {"bytes_per_s": 1e9, "latency_s": 0, "efficiency": 1, "rdma": true}, )" +
        more + "}";
    resolved_ = resolve(parse_request(text, "test"), library_);
    step_ = add_exchange(graph::backward(find_model(kModel)), resolved_);
    bound_ = graph::bind(step_, {{"batch", 4}});
  }

  std::vector<Kind> communication() const {
    std::vector<Kind> kinds;
    for (const graph::Node& node : step_.nodes) {
      if (graph::is_communication(node)) kinds.push_back(node.kind);
    }
    return kinds;
  }

  ExchangePlan plan() const { return plan_exchange(bound_, resolved_); }

  Library library_ = load_library();
  Resolved resolved_;
  graph::Graph step_;
  graph::Bound bound_;
};

double sent(const ExchangePlan& plan) {
  double bytes = 0;
  for (const Exchange& one : plan.exchanges) bytes += one.traffic.worker_tx_bytes;
  return bytes;
}

// The first bucket is closed by the large weight, which is complete before its bias; the bias is
// left over. Each of two ranks sends 2 (2 - 1) / 2 of all bytes.
TEST_F(Exchanges, DdpReducesBucketsWhenTheyAreFull) {
  prepare(R"("ddp")");
  EXPECT_EQ(communication(), std::vector<Kind>(2, Kind::AllReduce));
  EXPECT_DOUBLE_EQ(sent(plan()), kBytes);
  EXPECT_EQ(plan().gradient_copies, 2);
}

TEST_F(Exchanges, PlainAllReduceComesOnceAtTheEnd) {
  prepare(R"("allreduce")");
  EXPECT_EQ(communication(), std::vector<Kind>{Kind::AllReduce});
  EXPECT_EQ(step_.nodes.back().kind, Kind::AllReduce);
  EXPECT_DOUBLE_EQ(sent(plan()), kBytes);
  EXPECT_EQ(plan().gradient_copies, 0);
}

// Each of four tensors fills a bucket of one byte.
TEST_F(Exchanges, BucketsHaveTheSizeThatIsAsked) {
  for (const char* kind : {"ddp", "horovod"}) {
    prepare(R"({"kind": ")" + std::string(kind) + R"(", "bucket_bytes": 1})");
    EXPECT_EQ(communication(), std::vector<Kind>(4, Kind::AllReduce)) << kind;
    EXPECT_DOUBLE_EQ(sent(plan()), kBytes);
  }
  EXPECT_THROW(prepare(R"({"kind": "fsdp", "bucket_bytes": 1})"), Error);
}

// In 16 bits half of the bytes are sent, 2 (2 - 1) / 2 of them by each rank at 1 GB/s. The device
// reads 4 and writes 2 bytes of each value before, and the other way round after, at 320 GB/s.
TEST_F(Exchanges, CompressedGradientsSendLessAndAreConverted) {
  prepare(R"("allreduce")");
  EXPECT_NEAR(plan().exchanges.at(0).time.count(), kBytes / 1e9, 1e-9);
  prepare(R"({"kind": "allreduce", "gradient_precision": "fp16"})");
  EXPECT_DOUBLE_EQ(sent(plan()), kBytes / 2);
  EXPECT_NEAR(plan().exchanges.at(0).time.count(), kBytes / 2 / 1e9 + 3 * kBytes / 320e9, 1e-9);
  EXPECT_EQ(flat_buffers(bound_, resolved_), (std::vector<double>{kBytes, kBytes / 2}));
  prepare(R"({"kind": "allreduce", "gradient_precision": "fp32"})");
  EXPECT_DOUBLE_EQ(sent(plan()), kBytes);
  EXPECT_EQ(flat_buffers(bound_, resolved_), std::vector<double>{kBytes});
}

// All fits into one bucket of 64 MiB; two ranks agree after 2/3 of a cycle of 5 ms.
TEST_F(Exchanges, HorovodWaitsForItsCycle) {
  prepare(R"("allreduce")");
  const Seconds plain = plan().exchanges.at(0).time;
  prepare(R"("horovod")");
  EXPECT_NEAR((plan().exchanges.at(0).time - plain).count(), 5e-3 * 2 / 3, 1e-12);
}

// Parameters go out before the forward pass, which the host waits for, gradients come in after it.
// Four tensors on two devices: 2 * 4 / 2 * 90 us each way besides the bytes.
TEST_F(Exchanges, DataParallelSendsBothWaysThroughTheHost) {
  prepare(R"("dataparallel")",
          R"("workers": 2, "intra_node": {"bytes_per_s": 1e13, "latency_s": 0})");
  EXPECT_EQ(communication(), (std::vector<Kind>{Kind::Broadcast, Kind::Reduce}));
  EXPECT_EQ(step_.nodes.front().attributes.number(graph::Attr::Waiting, 0),
            static_cast<std::int64_t>(graph::Waiting::Host));
  for (const Exchange& one : plan().exchanges) EXPECT_NEAR(one.time.count(), 360e-6, 1e-6);
  prepare(R"("dataparallel")");
  EXPECT_THROW(plan(), Error);  // two nodes
}

// One server beside the first of two workers: the other one pulls and pushes all bytes over
// 1 GB/s. Each of four variables is pushed and updated by itself.
TEST_F(Exchanges, ServersArePulledFromOnceAndPushedToByVariable) {
  prepare(R"({"kind": "ps"})");
  EXPECT_EQ(
      communication(),
      (std::vector<Kind>{Kind::Pull, Kind::Push, Kind::ServerUpdate, Kind::Push, Kind::ServerUpdate,
                         Kind::Push, Kind::ServerUpdate, Kind::Push, Kind::ServerUpdate}));
  const ExchangePlan both = plan();
  EXPECT_NEAR(both.exchanges.front().time.count(), kBytes / 1e9, 1e-9);
  double pushed = 0;
  for (std::size_t i = 1; i < both.exchanges.size(); i += 2) {
    pushed += both.exchanges[i].time.count();
  }
  EXPECT_NEAR(pushed, kBytes / 1e9, 1e-9);
  EXPECT_EQ(both.servers_busy, Seconds{0});
}

// Three asynchronous workers, one of them beside the server: two pull over its link in turn.
TEST_F(Exchanges, AsynchronousServersAreBusyWithAllWorkers) {
  prepare(R"({"kind": "ps", "asynchronous": true})", R"("placement": [1, 1, 1])");
  EXPECT_NEAR(plan().servers_busy.count(), 2 * kBytes / 1e9, 1e-9);
}

// Filled from the last parameter to the first: 40 + 20,000 + 2,000 bytes leave the first buffer
// open (1 MiB), which 2,000,000 more close.
TEST_F(Exchanges, AllReducesKeepFlatBuffersAndOthersNone) {
  for (const char* strategy : {R"("ddp")", R"("allreduce")", R"("horovod")"}) {
    prepare(strategy);
    EXPECT_EQ(flat_buffers(bound_, resolved_), std::vector<double>{kBytes}) << strategy;
  }
  for (const char* strategy : {R"("dataparallel")", R"({"kind": "ps"})"}) {
    prepare(strategy);
    EXPECT_TRUE(flat_buffers(bound_, resolved_).empty()) << strategy;
  }
}

// Beside 16-bit gradients Megatron's buffer has as much again, so that both are fp32's bytes;
// DeepSpeed keeps the 16-bit ones and all of them in fp32.
TEST_F(Exchanges, DeepSpeedKeepsGradientsInBothFormats) {
  const auto buffers = [&](const std::string& framework) {
    prepare(R"("zero1")", R"("placement": [1, 1], "framework": ")" + framework + R"(")");
    resolved_.precision = Precision::Bf16;
    const std::vector<double> all = flat_buffers(bound_, resolved_);
    return std::accumulate(all.begin(), all.end(), 0.0);
  };
  const double once = buffers("megatron");
  EXPECT_GT(once, 0);
  EXPECT_EQ(buffers("megatron-deepspeed"), 2 * once);
}

TEST_F(Exchanges, OneWorkerAndInferenceHaveNone) {
  prepare(R"("ddp")", R"("workers": 1)");
  EXPECT_TRUE(communication().empty());
  EXPECT_TRUE(exchange_key(resolved_).empty());
  EXPECT_TRUE(flat_buffers(bound_, resolved_).empty());
  prepare(R"("ddp")", R"("placement": [1, 1], "mode": "inference")");
  EXPECT_TRUE(communication().empty());
}

}  // namespace
}  // namespace foretrain::parallel
