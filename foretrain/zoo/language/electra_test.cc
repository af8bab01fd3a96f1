// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// The discriminator is BERT-base without its pooler, 108,891,648, and a head of h^2 + h and
// h + 1. The generator, g = 256, projects h to g, has twelve layers of 12 g^2 + 13 g, and
// predicts by g h + h, a norm of 2 h and 30522 biases; the tables are the discriminator's.
TEST(Electra, MatchesHandCalculation) {
  const std::int64_t encoder = 108891648;
  const std::int64_t finds = encoder + 768 * 768 + 768 + 769;
  const std::int64_t generator =
      768 * 256 + 256 + 12 * (12 * 256 * 256 + 13 * 256) + 256 * 768 + 3 * 768 + 30522;
  EXPECT_EQ(graph::parameter_count(build("electra-base:head=discriminator")), finds);
  EXPECT_EQ(graph::parameter_count(build("electra-base")), finds + generator);
  EXPECT_EQ(graph::parameter_count(build("electra-base:head=qa")), encoder + 2 * 768 + 2);
}

// S = 128 tokens through both encoders and the projection, 19 of them masked: g h and 30522 h.
TEST(Electra, CountsItsProducts) {
  const double s = 128;
  const double h = 768;
  const double g = 256;
  const double finds = s * (12 * (12 * h * h + 2 * s * h) + h * h + h);
  const double fills = s * (h * g + 12 * (12 * g * g + 2 * s * g)) + 19 * (g * h + 30522 * h);
  EXPECT_NEAR(gemm_flops(build("electra-base:seq=128"), 1) / (2 * (finds + fills)), 1, 1e-9);
}

TEST(Electra, LooksWordsUpTwiceInOneTable) {
  const graph::Graph model = build("electra-base");
  EXPECT_EQ(count(model, graph::Kind::Embedding), 2 * 3);
  EXPECT_TRUE(has_tensor(model, "electra.embeddings.word_embeddings.weight"));
  EXPECT_FALSE(has_tensor(model, "generator.embeddings.word_embeddings.weight"));
}

}  // namespace
}  // namespace foretrain::zoo
