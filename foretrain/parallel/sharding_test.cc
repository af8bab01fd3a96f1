// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/parallel/exchange.h"
#include "foretrain/request/find_model.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;

// Two blocks of 12 h² + 13 h = 872 parameters for h = 8, and 16 x 8 + 4 x 8 + 2 x 8 = 176 of
// embeddings and the last norm, the root: 1920. Every first axis is even.
constexpr const char* kModel = "gpt:layers=2,hidden=8,heads=2,seq=4,vocab=16";
constexpr double kBlock = 872;
constexpr double kRoot = 176;
constexpr double kAll = 1920;

class Sharding : public testing::Test {
 protected:
  // On nodes of one device each, over links without latency, unless `more` says otherwise.
  void prepare(const std::string& strategy, const std::string& more = R"("placement": [1, 1])",
               const char* model = kModel) {
    const std::string text =
        R"({"model": ")" + std::string(model) + R"(", "device": "a100", "strategy": )" + strategy +
        R"(, "network": {"bytes_per_s": 1e9, "latency_s": 0, "efficiency": 1, "rdma": true}, )" +
        more + "}";
    resolved_ = resolve(parse_request(text, "test"), library_);
    graph::Graph forward = find_model(model);
    if (computes_with_half_copies(resolved_)) {
      forward = graph::with_half_parameters(std::move(forward), resolved_.precision);
    }
    forward = graph::set_precision(forward, resolved_.precision, resolved_.framework->casting);
    const auto handling =
        resolved_.passes > 1 ? graph::GradientHandling::Accumulate : graph::GradientHandling::Fresh;
    graph::Graph alone =
        graph::update(graph::backward(std::move(forward), handling), graph::Optimizer::Adam);
    step_ = add_exchange(std::move(alone), resolved_);
    graph::verify(step_);
    bound_ = graph::bind(step_, {{"batch", 4}});
  }

  std::vector<Kind> communication() const {
    std::vector<Kind> kinds;
    for (const graph::Node& node : step_.nodes) {
      if (graph::is_communication(node)) kinds.push_back(node.kind);
    }
    return kinds;
  }

  double sent_bytes() const {
    double bytes = 0;
    for (const Exchange& one : plan_exchange(bound_, resolved_).exchanges) {
      bytes += one.traffic.worker_tx_bytes;
    }
    return bytes;
  }

  double elements(graph::Role role) const {
    double count = 0;
    for (std::size_t t = 0; t < step_.tensors.size(); ++t) {
      if (step_.tensors[t].role == role) count += bound_.count(static_cast<graph::TensorId>(t));
    }
    return count;
  }

  const graph::Node& update() const {
    return *std::find_if(step_.nodes.begin(), step_.nodes.end(),
                         [](const graph::Node& node) { return node.kind == Kind::Update; });
  }

  Library library_ = load_library();
  Resolved resolved_;
  graph::Graph step_;
  graph::Bound bound_;
};

// Gathered: the root once, both blocks before forward and before backward; scattered: all once. Of
// all that each of two ranks sends one half.
TEST_F(Sharding, FsdpGathersBlocksTwiceAndScattersOnce) {
  prepare(R"("fsdp")");
  EXPECT_EQ(communication(),
            (std::vector<Kind>{Kind::AllGather, Kind::AllGather, Kind::AllGather, Kind::AllGather,
                               Kind::AllGather, Kind::ReduceScatter, Kind::ReduceScatter,
                               Kind::ReduceScatter}));
  EXPECT_DOUBLE_EQ(sent_bytes(), (kRoot + 4 * kBlock + kAll) * 4 / 2);
}

// Half of the parameters, and of Adam's two moments for each.
TEST_F(Sharding, ARankKeepsShards) {
  for (const char* strategy : {R"("fsdp")", R"("zero2")", R"("zero3")"}) {
    prepare(strategy);
    EXPECT_EQ(elements(graph::Role::Parameter), kAll / 2) << strategy;
    EXPECT_EQ(elements(graph::Role::OptimizerState), 2 * kAll / 2) << strategy;
    EXPECT_EQ(step_.gradients.size(), 28U) << strategy;  // embeddings, 2 x 12, norm: 2 + 24 + 2
  }
}

// Two layers of four experts with matrices of 16 x 32, 16 x 32 and 32 x 16 in one tensor each: of
// 12288 elements each of eight ranks keeps an eighth. The tensors' first axis, the four experts,
// would leave one expert for each rank, twice as much as all have.
TEST_F(Sharding, DividesTheMatrixOfEachExpert) {
  prepare(R"("fsdp")", R"("placement": [8])",
          "llama:layers=2,hidden=16,heads=2,ffn=32,seq=8,vocab=64,experts=4,active=2");
  double kept = 0;
  for (std::size_t t = 0; t < step_.tensors.size(); ++t) {
    const graph::Tensor& tensor = step_.tensors[t];
    if (tensor.role != graph::Role::Parameter || tensor.shape.rank() != 3) continue;
    EXPECT_EQ(tensor.shape[0], graph::Dim(4));
    kept += bound_.count(static_cast<graph::TensorId>(t));
  }
  EXPECT_EQ(kept, 12288.0 / 8);
}

// Parameters in 2 bytes, sums in 4, or in 2 where asked for.
TEST_F(Sharding, HalfPrecisionGathersTwoBytes) {
  const std::string half = R"("placement": [1, 1], "precision": "bf16")";
  prepare(R"("fsdp")", half);
  EXPECT_DOUBLE_EQ(sent_bytes(), ((kRoot + 4 * kBlock) * 2 + kAll * 4) / 2);
  prepare(R"({"kind": "fsdp", "gradient_precision": "bf16"})", half);
  EXPECT_DOUBLE_EQ(sent_bytes(), (kRoot + 4 * kBlock + kAll) * 2 / 2);
}

// What is gathered for forward serves backward, too.
TEST_F(Sharding, ZeroTwoOfPyTorchGathersOnce) {
  prepare(R"("zero2")");
  EXPECT_EQ(std::ranges::count(communication(), Kind::AllGather), 3);
  EXPECT_DOUBLE_EQ(sent_bytes(), (kAll + kAll) * 4 / 2);
}

// Two nodes of two devices, a copy on each node: only sums of shards cross. Of each shard of n / 2
// elements two ranks send 2 (2 - 1) / 2 times its bytes, and a node has both shards.
TEST_F(Sharding, HybridShardingReducesShardsAcrossCopies) {
  prepare(R"({"kind": "fsdp", "shard_group": 2})", R"("placement": [2, 2])");
  EXPECT_EQ(std::ranges::count(communication(), Kind::AllReduce), 3);
  EXPECT_DOUBLE_EQ(sent_bytes(), 2 * (kAll / 2) * 4);
}

// FSDP gathers, and by default scatters, in each pass; gradients then add up as shards.
TEST_F(Sharding, AccumulationAddsShardsOrWholeGradients) {
  const std::string batch = R"("placement": [1, 1], "batch": 8)";
  prepare(R"({"kind": "fsdp", "micro_batch": 4})", batch);
  const auto in_every_pass = [&](Kind kind) {
    return std::all_of(step_.nodes.begin(), step_.nodes.end(), [&](const graph::Node& node) {
      return node.kind != kind || node.attributes.number(graph::Attr::EveryPass, 0) == 1;
    });
  };
  const auto& zeroed = step_.nodes.front();
  ASSERT_EQ(zeroed.kind, Kind::ZeroGrad);
  double shards = 0;
  for (const graph::TensorId id : zeroed.inputs) shards += bound_.count(id);
  EXPECT_EQ(shards, kAll / 2);
  EXPECT_TRUE(in_every_pass(Kind::AllGather));
  EXPECT_TRUE(in_every_pass(Kind::ReduceScatter));
  prepare(R"({"kind": "fsdp", "micro_batch": 4, "reduce_every_pass": false})", batch);
  double whole = 0;
  for (const graph::TensorId id : step_.nodes.front().inputs) whole += bound_.count(id);
  EXPECT_EQ(whole, kAll);
  EXPECT_TRUE(in_every_pass(Kind::AllGather));
  EXPECT_FALSE(in_every_pass(Kind::ReduceScatter));
}

// 500,000 + 500 + 5,000 + 10 parameters: the first matrix goes to one rank, all others to the
// second, which has less. All-reduce of 2 (2 - 1) / 2 times all bytes, then a broadcast of each.
TEST_F(Sharding, ZeroOneOfPyTorchOwnsWholeParameters) {
  prepare(R"("zero1")", R"("placement": [1, 1])", "mlp:in=1000,hidden=500,layers=2,classes=10");
  ASSERT_EQ(update().inputs.size(), 2U);
  EXPECT_EQ(bound_.count(update().inputs.front()), 500'000);
  EXPECT_EQ(elements(graph::Role::OptimizerState), 2 * 500'000);
  EXPECT_EQ(std::ranges::count(communication(), Kind::Broadcast), 4);
  EXPECT_DOUBLE_EQ(sent_bytes(), 2 * 505'510 * 4);
}

// One bucket of 505,510 gradients of 2 bytes is scattered, as many parameters are gathered; each
// rank updates one half in fp32.
TEST_F(Sharding, DeepSpeedScattersFlatBuckets) {
  for (const char* strategy : {R"("zero1")", R"("zero2")"}) {
    prepare(strategy,
            R"("placement": [1, 1], "framework": "deepspeed", "precision": "fp16", "batch": 8)",
            "mlp:in=1000,hidden=500,layers=2,classes=10");
    EXPECT_EQ(communication(), (std::vector<Kind>{Kind::ReduceScatter, Kind::AllGather}));
    EXPECT_EQ(step_.nodes.back().kind, Kind::AllGather);
    EXPECT_DOUBLE_EQ(sent_bytes(), 2 * 505'510 * 2 / 2);
    ASSERT_EQ(update().inputs.size(), 2U);
    EXPECT_EQ(bound_.count(update().inputs.front()), 505'510 / 2);
  }
}

// DeepSpeed fills one bucket while it sends another. Megatron's gradients lie where they are sent
// from, in bf16 as fp32: as many bytes again as they have in 16 bits.
TEST_F(Sharding, FlatBuffersAreThoseOfTheFramework) {
  const auto buffers = [&](const std::string& framework, const std::string& precision) {
    prepare(R"("zero1")",
            R"("placement": [1, 1], "framework": ")" + framework + R"(", "precision": ")" +
                precision + "\"",
            "mlp:in=1000,hidden=500,layers=2,classes=10");
    return flat_buffers(bound_, resolved_);
  };
  EXPECT_EQ(buffers("deepspeed", "fp16"), (std::vector<double>(2, 505'510 * 2)));
  EXPECT_EQ(buffers("megatron", "bf16"), (std::vector<double>{505'510 * 2}));
  EXPECT_TRUE(buffers("megatron", "fp16").empty());
}

// A gather is issued one block ahead: that of the second block stands before the first block's
// nodes, so at most two blocks are there at once.
TEST_F(Sharding, GathersAreOneBlockAhead) {
  prepare(R"("fsdp")");
  std::vector<std::string> order;
  for (const graph::Node& node : step_.nodes) {
    if (node.phase == graph::Phase::Backward) break;
    const bool gathers = node.kind == Kind::AllGather;
    const std::size_t place = node.scope.find("h.");
    if (place == std::string::npos && !gathers) continue;
    const std::string unit = place == std::string::npos ? "root" : node.scope.substr(place, 3);
    const std::string name = (gathers ? "gather " : "run ") + unit;
    if (order.empty() || order.back() != name) order.push_back(name);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"gather root", "gather h.0", "gather h.1", "run h.0",
                                             "run h.1", "gather h.1"}));
}

}  // namespace
}  // namespace foretrain::parallel
