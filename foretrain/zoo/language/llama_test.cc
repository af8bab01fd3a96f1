// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Kind;

constexpr Published kPublished[] = {
    {"llama-7b", 6738415616},
    {"llama2-7b", 6738415616},
    {"llama2-13b", 13015864320},
    {"llama2-70b", 68976648192},
    {"llama3-8b", 8030261248},
    {"llama3-70b", 70553706496},
    {"mistral-7b", 7241732096},
    {"llama", 6738415616},
    {"llama-13b", 13015864320},
    {"llama-30b", 32528943616},
    {"llama-65b", 65285660672},
    {"llama3.1-405b", 405853388800},
    {"llama3.2-1b", 1235814400},
    {"llama3.2-3b", 3212749824},
    {"tinyllama-1.1b", 1100048384},
    {"qwen-1.8b", 1836828672},
    {"qwen-7b", 7721324544},
    {"qwen-14b", 14167290880},
    {"qwen-72b", 72287920128},
    {"yi-6b", 6061035520},
    {"yi-34b", 34388917248},
    {"baichuan2-7b", 7505973248},
    {"phi3-mini", 3821079552},
    {"gemma-2b", 2506172416},
    {"gemma-7b", 8537680896},
    {"qwen2-0.5b", 494032768},
    {"qwen2-1.5b", 1543714304},
    {"qwen2-7b", 7615616512},
    {"qwen2-72b", 72706203648},
    {"qwen2.5-14b", 14770033664},
    {"qwen2.5-32b", 32763876352},
    {"qwen3-0.6b", 596049920},
    {"qwen3-8b", 8190735360},
    {"qwen3-32b", 32762123264},
    {"mixtral-8x7b", 46702792704},
    {"mixtral-8x22b", 140620634112},
    {"llama:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,"
     "seq=4096,vocab=128256",
     8030261248},
};

TEST(Llama, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

// Per token and layer h (2 h + 2 h / 4) for the projections of 8 of 32 key heads, 3 h ffn for
// the feed-forward layer, 2 S h for attention; vocab h for the head. S = 2048, h = 4096.
TEST(Llama, CountsItsProducts) {
  const double h = 4096;
  const double layer = 2.5 * h * h + 3 * h * 14336 + 2 * 2048 * h;
  const double flops = 2 * 2048 * (32 * layer + 128256 * h);
  EXPECT_NEAR(gemm_flops(build("llama3-8b:seq=2048"), 1) / flops, 1, 1e-9);
}

// As above, but of 8 experts two count: 2 * 3 h ffn per token, and 8 h for the router.
TEST(Mixtral, CountsTheProductsOfActiveExpertsOnly) {
  const double h = 4096;
  const double layer = 2.5 * h * h + 2 * 3 * h * 14336 + 8 * h + 2 * 2048 * h;
  const double flops = 2 * 2048 * (32 * layer + 32000 * h);
  EXPECT_NEAR(gemm_flops(build("mixtral-8x7b:seq=2048"), 1) / flops, 1, 1e-9);
  EXPECT_EQ(build("mixtral-8x7b:seq=2048").notes.size(), 1U);
}

// 3 tokens to 2 of 8 experts are 6 places: each expert keeps one of each sequence.
TEST(Mixtral, RoundsTheTokensOfAnExpertUp) {
  const graph::Graph model =
      build("llama:layers=1,hidden=32,heads=2,ffn=64,vocab=50,seq=3,experts=8,active=2");
  EXPECT_EQ(count(model, Kind::Pad), 1);
  const double layer = 3 * (4 * 32 * 32 + 8 * 32 + 2 * 3 * 32) + 8 * 3 * 32 * 64;
  EXPECT_DOUBLE_EQ(gemm_flops(model, 1), 2 * (layer + 3 * 50 * 32));
  EXPECT_DOUBLE_EQ(gemm_flops(model, 5), 5 * gemm_flops(model, 1));
}

TEST(Qwen, HasBiasesOrNormsOfItsHeads) {
  const graph::Graph second = build("qwen2-0.5b");
  EXPECT_TRUE(has_tensor(second, "model.layers.0.self_attn.k_proj.bias"));
  EXPECT_FALSE(has_tensor(second, "model.layers.0.self_attn.o_proj.bias"));
  EXPECT_FALSE(has_tensor(second, "lm_head.weight"));  // tied
  const graph::Graph third = build("qwen3-8b");
  EXPECT_TRUE(has_tensor(third, "model.layers.35.self_attn.q_norm.weight"));
  EXPECT_FALSE(has_tensor(third, "model.layers.0.self_attn.q_proj.bias"));
  EXPECT_TRUE(has_tensor(third, "lm_head.weight"));
}

// Two rotations a layer, each of two products, a negation, a concatenation and a sum; beside
// them one product in the gate and two residual sums.
TEST(Llama, RotatesQueriesAndKeysAsHuggingFace) {
  const graph::Graph model = build("llama:layers=3,hidden=64,heads=4,ffn=128,seq=16");
  EXPECT_EQ(count(model, Kind::Neg), 3 * 2);
  EXPECT_EQ(count(model, Kind::Concat), 3 * 2);
  EXPECT_EQ(count(model, Kind::Mul), 3 * (2 * 2 + 1));
  EXPECT_EQ(count(model, Kind::Add), 3 * (2 + 2));
  EXPECT_EQ(count(model, Kind::RmsNorm), 3 * 2 + 1);
}

TEST(Llama, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("mistral-7b");
  EXPECT_TRUE(has_tensor(model, "model.layers.0.self_attn.q_proj.weight"));
  EXPECT_TRUE(has_tensor(model, "model.layers.31.mlp.gate_proj.weight"));
  EXPECT_TRUE(has_tensor(model, "model.layers.31.post_attention_layernorm.weight"));
  EXPECT_TRUE(has_tensor(model, "model.norm.weight"));
  EXPECT_TRUE(has_tensor(model, "lm_head.weight"));
  EXPECT_FALSE(has_tensor(model, "model.layers.0.self_attn.q_proj.bias"));
}

TEST(Llama, RefusesHeadsThatDoNotFit) {
  EXPECT_THROW(build("llama:hidden=100,heads=16"), Error);
  EXPECT_THROW(build("llama:heads=32,kv_heads=5"), Error);
  EXPECT_THROW(build("llama:hidden=96,heads=32"), Error);  // a head of 3 has no halves
  EXPECT_THROW(build("llama:head_size=3"), Error);
  EXPECT_THROW(build("llama:experts=2,active=3"), Error);
  EXPECT_THROW(build("llama:active=2"), Error);  // of no experts
}

}  // namespace
}  // namespace foretrain::zoo
