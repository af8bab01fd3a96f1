// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/experts.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/parallel/exchange.h"
#include "foretrain/parallel/tensor.h"
#include "foretrain/request/find_model.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;
using graph::Phase;

// Batch 4 of 8 tokens, each to 2 of 4 experts: 64 copies of 16 features, 4096 bytes in fp32.
constexpr const char* kModel =
    "llama:layers=2,hidden=16,heads=2,ffn=32,seq=8,vocab=64,experts=4,active=2";
constexpr double kRouted = 4096;

class Experts : public testing::Test {
 protected:
  void prepare(const ExpertParallel& how, int tensor = 1) {
    graph::Graph forward = split_experts(find_model(kModel), how);
    if (tensor > 1) forward = split_tensors(forward, {tensor, false});
    graph::verify(forward);
    step_ = graph::backward(std::move(forward));
    graph::verify(step_);
    bound_ = graph::bind(step_, {{"batch", 4}});
  }

  // Bytes that each all-to-all of a phase takes in and gives out.
  std::vector<std::pair<double, double>> exchanged(Phase phase) const {
    std::vector<std::pair<double, double>> bytes;
    for (const graph::Node& node : step_.nodes) {
      if (node.kind != Kind::AllToAll || node.phase != phase) continue;
      EXPECT_EQ(graph::among(node), graph::Among::Expert);
      bytes.emplace_back(bound_.bytes(node.inputs.front()), bound_.bytes(node.outputs.front()));
    }
    return bytes;
  }

  double gemm_flops() const {
    double flops = 0;
    for (const graph::Node& node : step_.nodes) flops += graph::work({bound_, node}).flops;
    return flops;
  }

  graph::Graph step_;
  graph::Bound bound_;
};

using Bytes = std::vector<std::pair<double, double>>;

// There and back in each of two layers, forward and backward. Every rank has as many tokens as
// before, of all ranks but for its own experts, so the work is the same.
TEST_F(Experts, TokensGoThereAndBack) {
  prepare({.ranks = 1});
  const double whole = gemm_flops();
  const auto parameters = graph::parameter_count(step_);
  prepare({.ranks = 2});
  EXPECT_EQ(exchanged(Phase::Forward), Bytes(4, {kRouted, kRouted}));
  EXPECT_EQ(exchanged(Phase::Backward), Bytes(4, {kRouted, kRouted}));
  EXPECT_DOUBLE_EQ(gemm_flops(), whole);
  // Of 2 layers with 4 experts of 3 matrices of 16 x 32 one half is left.
  EXPECT_EQ(parameters - graph::parameter_count(step_), 2 * 2 * 3 * 16 * 32);
}

// The busiest rank gets half as many again: it takes in 4096 and gives out 6144 bytes.
TEST_F(Experts, AnUnevenRouterSendsMoreToOneRank) {
  prepare({.ranks = 2, .imbalance = 1.5});
  EXPECT_EQ(exchanged(Phase::Forward),
            (Bytes{{kRouted, 6144}, {6144, kRouted}, {kRouted, 6144}, {6144, kRouted}}));
}

TEST_F(Experts, AreSplitByTensorParallelismToo) {
  prepare({.ranks = 2}, 2);
  EXPECT_EQ(exchanged(Phase::Forward), Bytes(4, {kRouted, kRouted}));
}

TEST_F(Experts, RefusesWhatDoesNotFit) {
  const auto kind = [](const char* model, int ranks) {
    try {
      split_experts(find_model(model), {.ranks = ranks});
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Io;
  };
  EXPECT_EQ(kind(kModel, 3), ErrorKind::BadInput);
  EXPECT_EQ(kind("gpt:layers=1,hidden=8,heads=2,seq=4,vocab=16", 2), ErrorKind::Unsupported);
}

// Four ranks on as many nodes, experts on two: gradients of experts are summed by two ranks each,
// the others by four.
TEST_F(Experts, GradientsAreSummedByRanksWithTheSameExperts) {
  const Library library = load_library();
  const Resolved resolved =
      resolve(parse_request(R"({"model": ")" + std::string(kModel) +
                                R"(", "device": "a100", "placement": [1, 1, 1, 1], "network": "hdr",
                         "strategy": {"kind": "allreduce", "expert": 2}})",
                            "test"),
              library);
  prepare({.ranks = 2});
  const auto experts = expert_parameters(step_);
  EXPECT_EQ(experts.size(), 2 * 3U);
  const graph::Graph step = add_exchange(step_, resolved);
  std::vector<std::pair<graph::Among, std::size_t>> sums;
  for (const graph::Node& node : step.nodes) {
    if (node.kind == Kind::AllReduce) sums.emplace_back(graph::among(node), node.inputs.size());
  }
  const std::size_t all = step.gradients.size();
  EXPECT_EQ(sums, (std::vector<std::pair<graph::Among, std::size_t>>{
                      {graph::Among::All, all - 6}, {graph::Among::ExpertReplicas, 6}}));
}

}  // namespace
}  // namespace foretrain::parallel
