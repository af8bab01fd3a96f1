// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Kind;

// (vocab + positions) h + layers (12 h^2 + 13 h) + 2 h, with the head tied. Those of GPT-3
// and `gpt` are not published as checkpoints; by hand:
//   gpt3-xl    (50257 + 2048) 3072 + 24 * 113,286,144 + 6144
//   gpt3-2.7b  (50257 + 2048) 2560 + 32 * 78,676,480 + 5120
//   gpt3-small and the other published sizes have a padded vocabulary of 51200:
//              (51200 + 2048) h + layers (12 h^2 + 13 h) + 2 h
//   gpt        (51200 + 1024) 1024 + 24 * 12,596,224 + 2048
constexpr Published kPublished[] = {
    {"gpt2", 124439808},
    {"gpt2-medium", 354823168},
    {"gpt2-large", 774030080},
    {"gpt2-xl", 1557611200},
    {"gpt2:seq=256", 124439808},
    {"gpt3-xl", 2879554560},
    {"gpt3-2.7b", 2651553280},
    {"gpt3-small", 53248 * 768 + 12 * 7087872 + 2 * 768},
    {"gpt3-medium", 53248 * 1024 + 24 * 12596224 + 2 * 1024},
    {"gpt3-large", 53248 * 1536 + 24 * 28331520 + 2 * 1536},
    {"gpt3-1.3b", 53248 * 2048 + 24 * 50358272 + 2 * 2048},
    {"gpt3-6.7b", 53248 * 4096 + 32 * std::int64_t{201379840} + 2 * 4096},
    {"gpt3-13b", 53248 * 5120 + 40 * std::int64_t{314639360} + 2 * 5120},
    {"gpt3-175b", 53248 * 12288 + 96 * std::int64_t{1812099072} + 2 * 12288},
    {"gpt:layers=24,hidden=1024,heads=16,seq=1024,vocab=51200", 355788800},
};

TEST(Gpt, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

// Per token 12 h^2 a layer, vocab h for the head; per layer and token 2 S h for attention. For
// gpt2, S = 1024: 1024 * (12 * (7,077,888 + 1,572,864) + 38,597,376) = 145.8 G multiply-adds.
TEST(Gpt, CountsItsProducts) {
  const double macs = 1024.0 * (12 * (12.0 * 768 * 768 + 2.0 * 1024 * 768) + 50257.0 * 768);
  EXPECT_NEAR(macs, 145.8e9, 0.1e9);
  EXPECT_NEAR(gemm_flops(build("gpt2"), 1) / (2 * macs), 1, 1e-9);
}

TEST(Gpt, FeedForwardWidthIsFourTimesTheHiddenUnlessGiven) {
  const auto parameters = [](const char* model) { return graph::parameter_count(build(model)); };
  const auto usual = parameters("gpt:layers=2,hidden=64,heads=4");
  EXPECT_EQ(usual, parameters("gpt:layers=2,hidden=64,heads=4,ffn=256"));
  // 64 fewer rows and columns of 64 and 64 fewer biases in each of two layers.
  EXPECT_EQ(usual - 2 * (2 * 64 * 64 + 64), parameters("gpt:layers=2,hidden=64,heads=4,ffn=192"));
}

TEST(Gpt, UsesOneTableForTheEmbeddingAndTheHead) {
  const graph::Graph model = build("gpt2");
  graph::TensorId table = -1;
  graph::TensorId head = -1;
  for (const graph::Node& node : model.nodes) {
    if (node.scope == "transformer.wte") table = node.inputs[1];
    if (node.scope == "lm_head") head = node.inputs[1];
  }
  EXPECT_EQ(table, head);
  EXPECT_EQ(model.tensor(head).name, "transformer.wte.weight");
}

// Hugging Face computes GELU in eight kernels, Megatron-LM in one.
TEST(Gpt, RunsTheActivationOfItsFramework) {
  EXPECT_EQ(count(build("gpt2"), Kind::Gelu), 0);
  EXPECT_EQ(count(build("gpt2"), Kind::Tanh), 12);
  EXPECT_EQ(count(build("gpt"), Kind::Gelu), 24);
}

TEST(Gpt, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("gpt2");
  EXPECT_TRUE(has_tensor(model, "transformer.h.0.attn.c_attn.weight"));
  EXPECT_TRUE(has_tensor(model, "transformer.h.11.mlp.c_proj.bias"));
  EXPECT_TRUE(has_tensor(model, "transformer.ln_f.weight"));
}

// A head of its own has 50257 rows of 768; half the layers, half of 12 * 7,087,872.
TEST(Gpt, TakesOtherSizesUnderEveryName) {
  const std::int64_t usual = 124439808;
  EXPECT_EQ(graph::parameter_count(build("gpt2:tied=0")), usual + 50257 * 768);
  EXPECT_EQ(graph::parameter_count(build("gpt2:layers=6")), usual - 6 * 7087872);
  EXPECT_EQ(count(build("gpt2:act=relu"), Kind::Relu), 12);
  EXPECT_EQ(count(build("gpt:act=relu"), Kind::Relu), 24);
  EXPECT_EQ(graph::parameter_count(build("gpt2:positions=2048")), usual + 1024 * 768);
}

// One row of 768 for each token beyond the 1024 that GPT-2 was trained with.
TEST(Gpt, NotesThatItsPositionTableGrew) {
  EXPECT_TRUE(build("gpt2").notes.empty());
  const graph::Graph model = build("gpt2:seq=2048");
  EXPECT_EQ(graph::parameter_count(model), 124439808 + 1024 * 768);
  EXPECT_EQ(model.notes.size(), 1U);
}

TEST(Gpt, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_THROW(build("gpt:hidden=100,heads=16"), Error);
}

}  // namespace
}  // namespace foretrain::zoo
