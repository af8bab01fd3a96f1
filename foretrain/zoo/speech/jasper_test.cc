// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Published with NVIDIA's checkpoints. By hand, for Jasper: a block of five convolutions of c
// channels and kernel k after in channels has c k (in + 4 c) + 10 c, and c (p + 2) for each of
// the panes of p channels that it adds.
TEST(Jasper, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(graph::parameter_count(build("jasper")), 332632349);
  EXPECT_EQ(graph::parameter_count(build("quartznet")), 18924381);
}

// All but norms and biases are weights that meet every one of 1680 / 2 frames once; those are
// less than 1 %.
TEST(Jasper, CountsItsProducts) {
  EXPECT_NEAR(gemm_flops(build("jasper"), 1) / (2 * 840 * 332632349.0), 1, 0.001);
  EXPECT_NEAR(gemm_flops(build("quartznet"), 1) / (2 * 840 * 18924381.0), 1, 0.01);
}

// Dense: 1 + 2 + ... + 10 convolutions beside the 53 of the blocks and the decoder's one; a norm
// behind all but the last.
TEST(Jasper, ConnectsEveryBlockToAllBefore) {
  const graph::Graph model = build("jasper");
  EXPECT_EQ(count(model, graph::Kind::Conv), 53 + 55 + 1);
  EXPECT_EQ(count(model, graph::Kind::BatchNorm), 53 + 55);
  EXPECT_EQ(count(model, graph::Kind::Add), 55);
  // 77 separable ones of two, one plain, 15 beside them and the decoder's.
  EXPECT_EQ(count(build("quartznet"), graph::Kind::Conv), 77 * 2 + 1 + 15 + 1);
}

TEST(Jasper, NamesParametersAsNvidia) {
  const graph::Graph model = build("jasper");
  EXPECT_TRUE(has_tensor(model, "encoder.layers.1.conv.16.weight"));
  EXPECT_TRUE(has_tensor(model, "encoder.layers.10.res.9.1.bias"));
  EXPECT_TRUE(has_tensor(model, "decoder.layers.0.bias"));
}

}  // namespace
}  // namespace foretrain::zoo
