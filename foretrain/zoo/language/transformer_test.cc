// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// d = 512, f = 2048: encoder layer 4 d^2 + 4 d + 2 d f + f + d + 4 d = 3,152,384; decoder layer
// 8 d^2 + 8 d + 2 d f + f + d + 6 d = 4,204,032; six of each 44,138,496; table V d.
// d = 1024, f = 4096: 12,596,224 and 16,796,672; 176,357,376.
// The paper's 65 and 213 million have a vocabulary of 37,000 and are rounded.
TEST(Transformer, MatchesHandCalculation) {
  EXPECT_EQ(graph::parameter_count(build("transformer-base")), 44138496 + 32000 * 512);
  EXPECT_EQ(graph::parameter_count(build("transformer-big")), 176357376 + 32000 * 1024);
  EXPECT_NEAR(static_cast<double>(graph::parameter_count(build("transformer-base:vocab=37000"))),
              65e6, 2e6);
  EXPECT_NEAR(static_cast<double>(graph::parameter_count(build("transformer-big:vocab=37000"))),
              213e6, 2e6);
}

// Per token: encoder layer 4 d^2 + 2 d f + 2 S d, decoder layer 8 d^2 + 2 d f + 4 S d, head V d.
TEST(Transformer, CountsItsProducts) {
  const double d = 512;
  const double f = 2048;
  const double macs = 64 * (6 * (12 * d * d + 4 * d * f + 6 * 64 * d) + 32000 * d);
  EXPECT_NEAR(gemm_flops(build("transformer-base"), 1) / (2 * macs), 1, 1e-9);
}

// Two convolutions for each of the 12 feed-forward layers: the same weights and products.
TEST(Transformer, FeedForwardLayersMayBeConvolutions) {
  const graph::Graph plain = build("transformer-base");
  const graph::Graph convolved = build("transformer-base:ffn=conv");
  EXPECT_EQ(count(convolved, graph::Kind::Conv), 24);
  EXPECT_EQ(graph::parameter_count(convolved), graph::parameter_count(plain));
  EXPECT_DOUBLE_EQ(gemm_flops(convolved, 8), gemm_flops(plain, 8));
}

TEST(Transformer, AttendsThreeTimesPerPairOfLayers) {
  EXPECT_EQ(count(build("transformer-base:layers=2"), graph::Kind::Attention), 6);
}

}  // namespace
}  // namespace foretrain::zoo
