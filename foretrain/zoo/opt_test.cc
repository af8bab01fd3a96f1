// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

class OptSizes : public testing::TestWithParam<Published> {};

TEST_P(OptSizes, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(graph::parameter_count(build(GetParam().model)), GetParam().parameters);
}

// (50272 + 2050) h + layers (12 h^2 + 13 h) + 2 h.
INSTANTIATE_TEST_SUITE_P(
    Opt, OptSizes,
    testing::Values(Published{"opt-125m", 125239296}, Published{"opt-1.3b", 1315758080},
                    Published{"opt-2.7b", 2651596800}, Published{"opt-6.7b", 6658473984},
                    Published{"opt-13b", 12853473280}, Published{"opt-30b", 29974540288},
                    Published{"opt-66b", 65719701504}));

// As gpt2 with its vocabulary: 12 h^2 and 2 S h per token and layer, vocab h for the head.
TEST(Opt, CountsItsProducts) {
  const double h = 768;
  const double macs = 2048 * (12 * (12 * h * h + 2 * 2048 * h) + 50272 * h);
  EXPECT_NEAR(product_flops(build("opt-125m"), 1) / (2 * macs), 1, 1e-9);
}

}  // namespace
}  // namespace foretrain::zoo
