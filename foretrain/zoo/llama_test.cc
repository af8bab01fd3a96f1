// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Kind;

class LlamaSizes : public testing::TestWithParam<Published> {};

TEST_P(LlamaSizes, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(graph::parameter_count(build(GetParam().model)), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(
    Llama, LlamaSizes,
    testing::Values(Published{"llama-7b", 6738415616}, Published{"llama2-7b", 6738415616},
                    Published{"llama2-13b", 13015864320}, Published{"llama2-70b", 68976648192},
                    Published{"llama3-8b", 8030261248}, Published{"llama3-70b", 70553706496},
                    Published{"mistral-7b", 7241732096}, Published{"llama", 6738415616},
                    Published{"llama:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,"
                              "seq=4096,vocab=128256",
                              8030261248}));

// Per token and layer h (2 h + 2 h / 4) for the projections of 8 of 32 key heads, 3 h ffn for
// the feed-forward layer, 2 S h for attention; vocab h for the head. S = 2048, h = 4096.
TEST(Llama, CountsItsProducts) {
  const double h = 4096;
  const double layer = 2.5 * h * h + 3 * h * 14336 + 2 * 2048 * h;
  const double flops = 2 * 2048 * (32 * layer + 128256 * h);
  EXPECT_NEAR(product_flops(build("llama3-8b:seq=2048"), 1) / flops, 1, 1e-9);
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
}

}  // namespace
}  // namespace foretrain::zoo
