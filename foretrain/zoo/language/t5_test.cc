// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Kind;

// t5-small by hand, h = 512: the table 32128 h; six layers of the encoder 4 h^2 + 2 h * 2048 +
// 2 h, of the decoder 8 h^2 + 2 h * 2048 + 3 h; each stack a last norm and 32 * 8 biases:
// 16,449,536 + 18,880,512 + 25,175,040 + 2 (512 + 256) = 60,506,624.
constexpr Published kPublished[] = {
    {"t5-small", 60506624},       {"t5-base", 222903552},       {"t5-large", 737668096},
    {"t5-3b", 2851598336},        {"t5-11b", 11307321344},      {"flan-t5-small", 76961152},
    {"flan-t5-base", 247577856},  {"flan-t5-large", 783150080}, {"flan-t5-xl", 2849757184},
    {"flan-t5-xxl", 11135332352},
};

TEST(T5, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

// Every token of the source: 4 h^2, 2 h ffn and 2 S h in the encoder, keys and values of 2 h^2
// for the decoder. Every token of the target: 4 h^2 and 2 T h for itself, 2 h^2 and 2 S h for
// the source, 2 h ffn, and vocab h once.
TEST(T5, CountsItsProducts) {
  const double h = 512;
  const double ffn = 2048;
  const double s = 256;
  const double t = 64;
  const double source = s * 6 * (4 * h * h + 2 * h * ffn + 2 * s * h + 2 * h * h);
  const double target = t * (6 * (6 * h * h + 2 * t * h + 2 * s * h + 2 * h * ffn) + 32128 * h);
  EXPECT_NEAR(gemm_flops(build("t5-small:seq=256,target=64"), 1) / (2 * (source + target)), 1,
              1e-9);
}

// A learned bias cannot go into one kernel of attention: GEMMs and softmax stay apart.
TEST(T5, ComputesItsScores) {
  const graph::Graph model = build("t5-small");
  EXPECT_EQ(count(model, Kind::Attention), 0);
  EXPECT_EQ(count(model, Kind::Softmax), 6 + 12);
  EXPECT_EQ(count(model, Kind::MatMul), 2 * (6 + 12));
}

TEST(T5, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("t5-small");
  EXPECT_TRUE(
      has_tensor(model, "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"));
  EXPECT_TRUE(has_tensor(model, "decoder.block.5.layer.1.EncDecAttention.k.weight"));
  EXPECT_TRUE(has_tensor(model, "decoder.block.5.layer.2.DenseReluDense.wo.weight"));
  EXPECT_FALSE(has_tensor(model, "lm_head.weight"));  // tied
  const graph::Graph gated = build("flan-t5-small");
  EXPECT_TRUE(has_tensor(gated, "lm_head.weight"));
  EXPECT_TRUE(has_tensor(gated, "encoder.block.7.layer.1.DenseReluDense.wi_1.weight"));
}

}  // namespace
}  // namespace foretrain::zoo
