// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/offload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/parallel/exchange.h"
#include "foretrain/request/find_model.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;

// Two linear layers of 1000 x 500 and 500 x 10: gradients of 2,000,000 + 2,000 and 20,000 + 40
// bytes, those of the second layer complete first.
constexpr const char* kModel = "mlp:in=1000,hidden=500,layers=2,classes=10";
constexpr double kBytes = 2'022'040;

class Offloads : public testing::Test {
 protected:
  void prepare(const std::string& strategy, const std::string& more = "") {
    const std::string text = R"({"model": ")" + std::string(kModel) +
                             R"(", "device": "t4", "strategy": )" + strategy + more + "}";
    resolved_ = resolve(parse_request(text, "test"), library_);
    const graph::Graph alone =
        graph::update(graph::backward(find_model(kModel)), graph::Optimizer::Adam);
    step_ = add_exchange(alone, resolved_);
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

  double seconds(Kind kind) const {
    const ExchangePlan plan = plan_exchange(bound_, resolved_);
    double sum = 0;
    std::size_t next = 0;
    for (const graph::Node& node : step_.nodes) {
      if (!graph::is_communication(node)) continue;
      const Exchange& one = plan.exchanges.at(next++);
      if (node.kind == kind) sum += one.time.count();
    }
    return sum;
  }

  Library library_ = load_library();
  Resolved resolved_;
  graph::Graph step_;
  graph::Bound bound_;
};

// Each gradient is copied when it is there; the update is one part, for it is small. Copies take
// PCIe 3.0's latency of 5.7 us each, and 11 GB/s from and to pinned memory.
TEST_F(Offloads, OfTheOptimizerCopiesGradientsOutAndParametersIn) {
  prepare(R"({"offload": "optimizer"})");
  EXPECT_EQ(communication(), (std::vector<Kind>{Kind::Push, Kind::Push, Kind::Push, Kind::Push,
                                                Kind::ServerUpdate, Kind::Pull}));
  EXPECT_EQ(step_.nodes.back().kind, Kind::Pull);
  EXPECT_TRUE(std::none_of(step_.nodes.begin(), step_.nodes.end(),
                           [](const graph::Node& node) { return node.kind == Kind::Update; }));
  const double rate = 11e9;
  EXPECT_NEAR(seconds(Kind::Push), 4 * 5.7e-6 + kBytes / rate, 1e-9);
  EXPECT_NEAR(seconds(Kind::Pull), 5.7e-6 + kBytes / rate, 1e-9);
  EXPECT_DOUBLE_EQ(plan_exchange(bound_, resolved_).host_bytes_per_s, 211e9);
}

// After the all-reduce of its bucket; two devices share the host's memory.
TEST_F(Offloads, OfTheOptimizerComesAfterTheExchange) {
  prepare(R"({"kind": "ddp", "offload": "optimizer"})", R"(, "workers": 2)");
  EXPECT_EQ(communication(), (std::vector<Kind>{Kind::AllReduce, Kind::Push, Kind::AllReduce,
                                                Kind::Push, Kind::ServerUpdate, Kind::Pull}));
  EXPECT_DOUBLE_EQ(plan_exchange(bound_, resolved_).host_bytes_per_s, 211e9 / 2);
}

// What backward reads of the forward pass and is no input of the model: the hidden layer after its
// activation function, 500 values of 4 bytes for each of 4 samples. The log-probabilities, 10
// values, are too small.
TEST_F(Offloads, OfActivationsCopiesWhatBackwardReads) {
  prepare(R"({"offload": "activations"})");
  EXPECT_EQ(communication(), (std::vector<Kind>{Kind::Push, Kind::Pull}));
  const double copy = 5.7e-6 + 4 * 500 * 4 / 11e9;
  EXPECT_NEAR(seconds(Kind::Push), copy, 1e-12);
  EXPECT_NEAR(seconds(Kind::Pull), copy, 1e-12);
  graph::TensorId outside = -1;
  for (const graph::Node& node : step_.nodes) {
    if (node.kind == Kind::Push) outside = node.inputs.front();
  }
  for (const graph::Node& node : step_.nodes) {
    const bool reads =
        std::find(node.inputs.begin(), node.inputs.end(), outside) != node.inputs.end();
    EXPECT_TRUE(!reads || node.phase == graph::Phase::Forward) << graph::describe(node);
  }
}

TEST_F(Offloads, NothingChangesWithoutIt) {
  prepare(R"("ddp")");
  EXPECT_TRUE(communication().empty());
  EXPECT_EQ(exchange_key(resolved_), "");
  prepare(R"({"offload": "none"})");
  EXPECT_EQ(exchange_key(resolved_), "");
}

TEST_F(Offloads, AreRefusedWhereThereIsNothingToOffload) {
  EXPECT_THROW(prepare(R"({"offload": "optimizer"})", R"(, "mode": "inference")"), Error);
  EXPECT_THROW(prepare(R"({"kind": "ps", "offload": "optimizer"})", R"(, "workers": 2)"), Error);
  EXPECT_THROW(resolve(parse_request(R"({"model": "mlp", "device": "cpu:cores=2",
                                         "strategy": {"offload": "activations"}})",
                                     "test"),
                       library_),
               Error);
}

}  // namespace
}  // namespace foretrain::parallel
