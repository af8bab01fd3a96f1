// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// 784 * 512 + 512 + 512 * 512 + 512 + 512 * 10 + 10.
TEST(Mlp, MatchesHandCalculation) {
  const graph::Graph model = build("mlp:in=784,hidden=512,layers=3,classes=10");
  EXPECT_EQ(graph::parameter_count(model), 669706);
  EXPECT_DOUBLE_EQ(gemm_flops(model, 3), 3 * 2 * (784.0 * 512 + 512.0 * 512 + 512.0 * 10));
  EXPECT_EQ(count(model, graph::Kind::Relu), 2);
  EXPECT_EQ(graph::parameter_count(build("mlp")), 669706);
}

TEST(Mlp, OfOneLayerIsLinear) {
  const graph::Graph model = build("mlp:in=4,layers=1,classes=3");
  EXPECT_EQ(graph::parameter_count(model), 4 * 3 + 3);
  EXPECT_EQ(count(model, graph::Kind::Relu), 0);
}

}  // namespace
}  // namespace foretrain::zoo
