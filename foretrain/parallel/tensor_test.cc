// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/request/find_model.h"

namespace foretrain::parallel {
namespace {

using graph::Kind;
using graph::Phase;

// Batch 4 of 4 tokens: activations of 4 x 4 x 8 values of 4 bytes are 512 bytes.
constexpr const char* kModel = "gpt:layers=2,hidden=8,heads=2,seq=4,vocab=16";
constexpr double kTokens = 16;
constexpr double kActivation = 512;

class Tensor : public testing::Test {
 protected:
  void prepare(const TensorParallel& how, const char* model = kModel,
               const graph::Recomputation& recomputation = {}) {
    const graph::Graph forward = split_tensors(find_model(model), how);
    graph::verify(forward);
    step_ = graph::update(graph::backward(forward, graph::GradientHandling::Fresh, recomputation),
                          graph::Optimizer::Adam);
    step_ = gather_again(sum_partial_gradients(std::move(step_)));
    graph::verify(step_);
    bound_ = graph::bind(step_, {{"batch", 4}});
  }

  // Bytes of each collective of a kind and phase: of what all ranks have together.
  std::vector<double> bytes(Kind kind, Phase phase) const {
    std::vector<double> result;
    for (const graph::Node& node : step_.nodes) {
      if (node.kind != kind || node.phase != phase) continue;
      EXPECT_EQ(graph::among(node), graph::Among::Tensor);
      double sum = 0;
      for (const auto id : kind == Kind::AllGather ? node.outputs : node.inputs) {
        sum += bound_.bytes(id);
      }
      result.push_back(sum);
    }
    return result;
  }

  double parameters() const { return static_cast<double>(graph::parameter_count(step_)); }

  graph::Graph step_;
  graph::Bound bound_;
};

// Forward: the words' embedding, two for each layer, and of the loss three values of 4 bytes for
// each token. Backward: two for each layer and the head's.
TEST_F(Tensor, AllReducesAsMegatronDoes) {
  prepare({.ranks = 2});
  std::vector<double> forward(5, kActivation);
  forward.insert(forward.end(), 3, 4 * kTokens);
  EXPECT_EQ(bytes(Kind::AllReduce, Phase::Forward), forward);
  EXPECT_EQ(bytes(Kind::AllReduce, Phase::Backward), std::vector<double>(5, kActivation));
  EXPECT_TRUE(bytes(Kind::AllReduce, Phase::Update).empty());
  EXPECT_TRUE(bytes(Kind::AllGather, Phase::Forward).empty());
}

// Whole: positions 4 x 8, norms 4 x 8 of each layer and 2 x 8, biases of rows 2 x 8 of each layer.
// Split: 16 x 8 words; of each layer 24 x 8 + 24, 8 x 8, 32 x 8 + 32, 8 x 32. One half of it:
// 32 + 2 (32 + 16) + 16 + (128 + 2 (216 + 64 + 288 + 256)) / 2 = 1032.
TEST_F(Tensor, ARankHasItsPartOfTheParameters) {
  prepare({.ranks = 2});
  EXPECT_EQ(parameters(), 1032);
}

// Forward: the words' embedding and each layer's two results are scattered, each layer's two
// inputs and the head's are gathered. Backward: the other way round; besides, what was gathered is
// gathered again, and so are the gradients of positions (4 x 8 values of 4 bytes), of which each
// rank added its own part to the words. Norms and the rows' biases: 6 of 8 values in each layer,
// 2 at the end.
TEST_F(Tensor, SharesTheSequenceAsMegatronDoes) {
  prepare({.ranks = 2, .sequence = true});
  EXPECT_EQ(bytes(Kind::ReduceScatter, Phase::Forward), std::vector<double>(5, kActivation));
  EXPECT_EQ(bytes(Kind::AllGather, Phase::Forward), std::vector<double>(5, kActivation));
  EXPECT_EQ(bytes(Kind::ReduceScatter, Phase::Backward), std::vector<double>(5, kActivation));
  EXPECT_EQ(bytes(Kind::AllGather, Phase::Recompute), std::vector<double>(5, kActivation));
  std::vector<double> gathered = bytes(Kind::AllGather, Phase::Backward);
  std::sort(gathered.begin(), gathered.end());
  EXPECT_EQ(gathered, (std::vector<double>{128, 512, 512, 512, 512, 512}));
  EXPECT_EQ(bytes(Kind::AllReduce, Phase::Update), std::vector<double>{(2 * 6 + 2) * 8 * 4});
  EXPECT_EQ(parameters(), 1032);
}

// A layer that runs again to its end exchanges what it did before; the core of attention exchanges
// nothing.
// Five tokens, of which two ranks cannot have as many each.
TEST_F(Tensor, SaysWhereTheSequenceCannotBeShared) {
  const auto notes_of = [](const char* model) {
    return split_tensors(find_model(model), {.ranks = 2, .sequence = true}).notes;
  };
  const std::string told =
      "sequence_parallel has no effect: 2 ranks do not divide the model's sequences";
  const auto odd = notes_of("gpt:layers=1,hidden=8,heads=2,seq=5,vocab=16");
  EXPECT_EQ(std::count(odd.begin(), odd.end(), told), 1);
  const auto even = notes_of("gpt:layers=1,hidden=8,heads=2,seq=4,vocab=16");
  EXPECT_EQ(std::count(even.begin(), even.end(), told), 0);
}

TEST_F(Tensor, RecomputationRepeatsCollectives) {
  prepare({.ranks = 2}, kModel, {graph::Recompute::Full, true});
  EXPECT_EQ(bytes(Kind::AllReduce, Phase::Recompute), std::vector<double>(4, kActivation));
  prepare({.ranks = 2, .sequence = true}, kModel, {graph::Recompute::Selective, true});
  EXPECT_EQ(bytes(Kind::ReduceScatter, Phase::Recompute), std::vector<double>{});
}

double gemm_flops(const graph::Graph& step, const graph::Bound& bound) {
  double flops = 0;
  for (const graph::Node& node : step.nodes) flops += graph::work({bound, node}).flops;
  return flops;
}

// Heads, columns and rows are each divided by four; all GEMMs of these models are.
TEST_F(Tensor, DividesTheGemmsOfAllKindsOfTransformers) {
  for (const char* model : {"gpt:layers=2,hidden=32,heads=4,seq=8,vocab=64",
                            "llama:layers=2,hidden=64,heads=8,kv_heads=4,ffn=96,seq=8,vocab=64",
                            "pythia-70m:seq=8", "opt-1.3b:layers=1,seq=8"}) {
    prepare({.ranks = 1}, model);
    const double whole = gemm_flops(step_, bound_);
    for (const bool sequence : {false, true}) {
      prepare({.ranks = 4, .sequence = sequence}, model);
      EXPECT_NEAR(gemm_flops(step_, bound_) / whole, 0.25, 0.01) << model;
    }
  }
}

// Routers run on every rank, experts are divided.
TEST_F(Tensor, DividesEachExpert) {
  const char* model = "llama:layers=1,hidden=32,heads=4,ffn=64,seq=8,vocab=64,experts=4,active=2";
  prepare({.ranks = 1}, model);
  const double whole = gemm_flops(step_, bound_);
  for (const bool sequence : {false, true}) {
    prepare({.ranks = 2, .sequence = sequence}, model);
    EXPECT_NEAR(gemm_flops(step_, bound_) / whole, 0.5, 0.02);
  }
}

// 30522 words are not a multiple of 4: a rank has 7631.
TEST_F(Tensor, PadsTheVocabulary) {
  prepare({.ranks = 4}, "bert-base:seq=8,layers=1");
  const auto table =
      std::find_if(step_.tensors.begin(), step_.tensors.end(), [](const graph::Tensor& tensor) {
        return tensor.name == "bert.embeddings.word_embeddings.weight";
      });
  ASSERT_NE(table, step_.tensors.end());
  EXPECT_EQ(table->shape[0], graph::Dim(7631));
}

ErrorKind kind_of_error(const char* model, int ranks) {
  try {
    split_tensors(find_model(model), {.ranks = ranks});
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << model;
  return ErrorKind::Io;
}

TEST_F(Tensor, RefusesWhatCannotBeSplit) {
  EXPECT_EQ(kind_of_error("gpt:layers=1,hidden=24,heads=3,seq=8,vocab=64", 2), ErrorKind::BadInput);
  EXPECT_EQ(kind_of_error("gpt:layers=1,hidden=8,heads=2,ffn=12,seq=8,vocab=64", 3),
            ErrorKind::BadInput);  // of 24 queries, keys and values 8 each
  EXPECT_EQ(kind_of_error("resnet18", 2), ErrorKind::Unsupported);
}

}  // namespace
}  // namespace foretrain::parallel
