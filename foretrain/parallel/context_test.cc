// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/context.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/parallel/tensor.h"
#include "foretrain/request/find_model.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;
using graph::Phase;

// Batch 4 of 16 tokens: keys of two heads of 4 values of 4 bytes are 4 x 16 x 8 x 4 = 2048 bytes,
// and values as many.
constexpr const char* kModel = "gpt:layers=2,hidden=8,heads=2,seq=16,vocab=16";
constexpr double kKeys = 2048;

class Context : public testing::Test {
 protected:
  void prepare(int ranks, const char* model = kModel,
               const graph::Recomputation& recomputation = {}, const TensorParallel& tensor = {}) {
    graph::Graph forward = find_model(model);
    if (ranks > 1) forward = split_context(forward, ranks);
    if (tensor.ranks > 1) forward = split_tensors(forward, tensor);
    graph::verify(forward);
    step_ = graph::update(graph::backward(forward, graph::GradientHandling::Fresh, recomputation),
                          graph::Optimizer::Adam);
    step_ = expand_rings(gather_again(sum_partial_gradients(std::move(step_))), ranks);
    graph::verify(step_);
    bound_ = graph::bind(step_, {{"batch", 4}});
  }

  // Bytes that a rank gives to each collective of a kind and phase among those of a sequence.
  std::vector<double> bytes(Kind kind, Phase phase) const {
    std::vector<double> result;
    for (const graph::Node& node : step_.nodes) {
      if (node.kind != kind || node.phase != phase) continue;
      if (graph::among(node) != graph::Among::Context) continue;
      double sum = 0;
      for (const auto id : node.inputs) sum += bound_.bytes(id);
      result.push_back(sum);
    }
    return result;
  }

  double gemm_flops() const {
    double flops = 0;
    for (const graph::Node& node : step_.nodes) flops += graph::work({bound_, node}).flops;
    return flops;
  }

  graph::Graph step_;
  graph::Bound bound_;
};

// Keys and values of a rank's 8 tokens once forward; backward once, then their gradients once.
TEST_F(Context, TwoRanksExchangeTheirHalves) {
  prepare(2);
  const double half = 2 * kKeys / 2;
  EXPECT_EQ(bytes(Kind::CollectivePermute, Phase::Forward), std::vector<double>(2, half));
  EXPECT_EQ(bytes(Kind::CollectivePermute, Phase::Backward), std::vector<double>(4, half));
}

// c - 1 = 3 times forward; backward 3 times, and after the first block beside the gradients.
TEST_F(Context, KeysAndValuesGoAroundAndTheirGradientsComeHome) {
  prepare(4);
  const double quarter = 2 * kKeys / 4;
  EXPECT_EQ(bytes(Kind::CollectivePermute, Phase::Forward), std::vector<double>(6, quarter));
  const std::vector<double> layer{quarter, 2 * quarter, 2 * quarter, quarter};
  std::vector<double> both = layer;
  both.insert(both.end(), layer.begin(), layer.end());
  EXPECT_EQ(bytes(Kind::CollectivePermute, Phase::Backward), both);
}

// A block for each rank's keys; results of 8 x 4 x 4 values are merged three times in each layer,
// gradients of queries, keys and values are added up three times.
TEST_F(Context, AttentionIsBlocks) {
  prepare(4);
  int blocks = 0;
  int gradients = 0;
  int merges = 0;
  for (const graph::Node& node : step_.nodes) {
    if (node.kind == Kind::Attention) {
      ++blocks;
      EXPECT_EQ(step_.tensor(node.inputs[0]).shape[2], graph::Dim(4));
      EXPECT_EQ(step_.tensor(node.inputs[1]).shape[2], graph::Dim(4));
      EXPECT_EQ(node.attributes.number(graph::Attr::Causal, 0), 1);
    }
    if (node.kind == Kind::AttentionGrad) ++gradients;
    if (node.label == "merge_blocks") ++merges;
  }
  EXPECT_EQ(blocks, 2 * 4);
  EXPECT_EQ(gradients, 2 * 4);
  EXPECT_EQ(merges, 2 * 3);
}

// Nothing else is exchanged: positions are looked up for a rank's own tokens, the loss is that of
// its own tokens, and every rank has all parameters.
TEST_F(Context, NothingElseIsExchangedInADecoder) {
  for (const char* model :
       {kModel, "llama:layers=2,hidden=64,heads=8,kv_heads=4,ffn=96,seq=16,vocab=64",
        "pythia-70m:seq=16", "opt-1.3b:layers=1,seq=16"}) {
    prepare(1, model);
    const double whole = gemm_flops();
    const auto parameters = graph::parameter_count(step_);
    prepare(4, model);
    EXPECT_NEAR(gemm_flops() / whole, 0.25, 1e-9) << model;
    EXPECT_EQ(graph::parameter_count(step_), parameters) << model;
    for (const Kind kind : {Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce}) {
      for (const Phase phase : {Phase::Forward, Phase::Backward}) {
        EXPECT_TRUE(bytes(kind, phase).empty()) << model << graph::op(kind).name;
      }
    }
    for (const graph::Tensor& tensor : step_.tensors) {
      if (tensor.role == graph::Role::Input) {
        EXPECT_EQ(tensor.shape[1], graph::Dim(4)) << model;
      }
    }
  }
}

// Attention that runs again goes around again.
TEST_F(Context, RecomputationRepeatsTheRing) {
  prepare(2, kModel, {graph::Recompute::Full, true});
  EXPECT_EQ(bytes(Kind::CollectivePermute, Phase::Recompute), std::vector<double>(2, kKeys));
}

// Each of two tensor-parallel ranks has one of the two heads.
TEST_F(Context, EachTensorParallelRankHasARingOfItsHeads) {
  for (const bool sequence : {false, true}) {
    prepare(2, kModel, {}, {.ranks = 2, .sequence = sequence});
    EXPECT_EQ(bytes(Kind::CollectivePermute, Phase::Forward), std::vector<double>(2, kKeys / 2));
    EXPECT_EQ(bytes(Kind::CollectivePermute, Phase::Backward), std::vector<double>(4, kKeys / 2));
  }
}

// T5's attention is elementary operators, three of them here: keys and values of 4 x 8 tokens of
// 512 values come from both ranks before, and their gradients go back.
TEST_F(Context, KeysAreGatheredWhereAttentionIsSpelledOut) {
  prepare(2, "t5-small:seq=16,target=16,layers=1,decoder_layers=1");
  const double keys = 4 * 8 * 512 * 4;
  EXPECT_EQ(bytes(Kind::AllGather, Phase::Forward), std::vector<double>(6, keys));
  EXPECT_EQ(bytes(Kind::ReduceScatter, Phase::Backward), std::vector<double>(6, 2 * keys));
  EXPECT_TRUE(bytes(Kind::CollectivePermute, Phase::Forward).empty());
}

// BERT's pooler takes the first token: its hidden states of 8 tokens are gathered once.
TEST_F(Context, WhatNeedsTheWholeSequenceGathersIt) {
  prepare(2, "bert-base:seq=16,layers=1,hidden=64,heads=2");
  EXPECT_EQ(bytes(Kind::AllGather, Phase::Forward), std::vector<double>{4 * 8 * 64 * 4});
  EXPECT_TRUE(bytes(Kind::ReduceScatter, Phase::Backward).empty());
}

ErrorKind kind_of_error(const char* model, int ranks) {
  try {
    split_context(find_model(model), ranks);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.kind();
  }
  return ErrorKind::Io;
}

TEST_F(Context, RefusesWhatCannotBeShared) {
  EXPECT_EQ(kind_of_error("resnet18", 2), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of_error(kModel, 3), ErrorKind::BadInput);
  EXPECT_EQ(kind_of_error(kModel, 16), ErrorKind::BadInput);  // two chunks for each rank
  EXPECT_EQ(
      kind_of_error("llama:layers=1,hidden=32,heads=4,ffn=64,seq=8,vocab=64,experts=4,active=2", 2),
      ErrorKind::Unsupported);
}

}  // namespace
}  // namespace foretrain::parallel
