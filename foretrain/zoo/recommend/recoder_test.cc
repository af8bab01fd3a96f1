// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Two tables of 20108 * 200, biases of 200 and 20108.
TEST(Recoder, MatchesHandCalculation) {
  EXPECT_EQ(graph::parameter_count(build("recoder")), 2 * 20108 * 200 + 200 + 20108);
  EXPECT_DOUBLE_EQ(gemm_flops(build("recoder"), 64), 2 * 64 * 2.0 * 20108 * 200);
  EXPECT_DOUBLE_EQ(gemm_flops(build("recoder:active=5000"), 64), 2 * 64 * 2.0 * 5000 * 200);
  EXPECT_THROW(build("recoder:active=30000"), Error);
}

}  // namespace
}  // namespace foretrain::zoo
