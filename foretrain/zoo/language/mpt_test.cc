// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// (50368 + seq) h + layers (12 h^2 + 13 h) + 2 h. Source: the tables of llm-foundry,
// scripts/train/benchmarking/README.md, which count one position per token of the sequence.
constexpr Published kPublished[] = {
    {"mpt-125m:seq=16384", 136321536},
    {"mpt-125m:seq=65536", 174070272},
    {"mpt-350m:seq=16384", 370665472},
    {"mpt-760m:seq=8192", 769907712},
    {"mpt-1b", 1315950592},
    {"mpt-3b", 2651837440},
    {"mpt-3b:seq=16384", 2688537600},
    {"mpt-7b", 6658859008},
    {"mpt-13b", 12853954560},
    {"mpt-30b", 29975214080},
    {"mpt-70b", 64862437376},
};

TEST(Mpt, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

TEST(Mpt, CountsItsProducts) {
  const double h = 2048;
  const double macs = 2048 * (24 * (12 * h * h + 2 * 2048 * h) + 50368 * h);
  EXPECT_NEAR(gemm_flops(build("mpt-1b"), 1) / (2 * macs), 1, 1e-9);
}

TEST(Mpt, DropsNothing) { EXPECT_EQ(count(build("mpt-125m"), graph::Kind::Dropout), 0); }

}  // namespace
}  // namespace foretrain::zoo
