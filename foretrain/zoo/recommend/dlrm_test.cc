// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Layers 13-512-256-128 and 480-1024-1024-512-256-1 with biases: 171,392 and 2,198,529; rows of
// 128 beside them, 187,767,399 of MLPerf's and 32,709,138 of the frequent categories. 27 vectors
// have 351 pairs, which with 128 numbers and one zero are 480.
TEST(Dlrm, MatchesHandCalculation) {
  const std::int64_t towers = 171392 + 2198529;
  EXPECT_EQ(graph::parameter_count(build("dlrm")), 187767399 * std::int64_t{128} + towers);
  EXPECT_EQ(graph::parameter_count(build("dlrm-small")), 32709138 * std::int64_t{128} + towers);
  // Five tables of MLPerf's exceed ten million rows.
  EXPECT_EQ(
      graph::parameter_count(build("dlrm:most_rows=10000000")),
      (187767399 - (29884406 + 28532951 + 29979771 + 15641295 + 29664984)) * std::int64_t{128} +
          towers);
}

TEST(Dlrm, CountsItsProducts) {
  const double bottom = 13 * 512 + 512 * 256 + 256 * 128;
  const double pairs = 27 * 27 * 128;
  const double top = 480 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256;
  EXPECT_DOUBLE_EQ(gemm_flops(build("dlrm"), 64), 2 * 64 * (bottom + pairs + top));
}

}  // namespace
}  // namespace foretrain::zoo
