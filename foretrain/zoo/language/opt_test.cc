// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// (50272 + 2050) h + layers (12 h^2 + 13 h) + 2 h. opt-350m has a table of width 512, two
// projections of 512 * 1024 and no last norm: 50272 * 512 + 2050 * 1024 + 2 * 512 * 1024 +
// 24 * 12,596,224 = 331,196,416.
constexpr Published kPublished[] = {
    {"opt-125m", 125239296},  {"opt-350m", 331196416},  {"opt-1.3b", 1315758080},
    {"opt-2.7b", 2651596800}, {"opt-6.7b", 6658473984}, {"opt-13b", 12853473280},
    {"opt-30b", 29974540288}, {"opt-66b", 65719701504},
};

TEST(Opt, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

// As gpt2 with its vocabulary: 12 h^2 and 2 S h per token and layer, vocab h for the head.
TEST(Opt, CountsItsProducts) {
  const double h = 768;
  const double macs = 2048 * (12 * (12 * h * h + 2 * 2048 * h) + 50272 * h);
  EXPECT_NEAR(gemm_flops(build("opt-125m"), 1) / (2 * macs), 1, 1e-9);
}

// Norms after the sums: the last node before the head's projection is the second layer norm.
TEST(Opt, SmallOneNormalizesLast) {
  const graph::Graph model = build("opt-350m:layers=2");
  EXPECT_FALSE(has_tensor(model, "model.decoder.final_layer_norm.weight"));
  EXPECT_TRUE(has_tensor(model, "model.decoder.project_out.weight"));
  EXPECT_EQ(count(model, graph::Kind::LayerNorm), 4);
  EXPECT_EQ(count(build("opt-125m:layers=2"), graph::Kind::LayerNorm), 5);
}

TEST(Opt, RefusesHeadsThatDoNotDivideTheWidth) { EXPECT_THROW(build("opt-125m:heads=7"), Error); }

}  // namespace
}  // namespace foretrain::zoo
