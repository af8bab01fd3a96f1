// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Tables: 128 * 655,000 + 64 * 17,300 + 19 * 4 = 84,947,276, and one weight for each of their
// 672,304 rows, 13 numbers and a bias in the wide part; layers 1056-1024-1024-1024-1024-1024-1.
TEST(WideDeep, MatchesHandCalculation) {
  const std::int64_t layers = 1057 * 1024 + 4 * 1025 * 1024 + 1025;
  EXPECT_EQ(graph::parameter_count(build("wide_deep")), 84947276 + 672304 + 14 + layers);
}

TEST(WideDeep, CountsItsProducts) {
  EXPECT_DOUBLE_EQ(gemm_flops(build("wide_deep"), 16),
                   2.0 * 16 * (1056 * 1024 + 4 * 1024 * 1024 + 1024 + 13));
}

}  // namespace
}  // namespace foretrain::zoo
