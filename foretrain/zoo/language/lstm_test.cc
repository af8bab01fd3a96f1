// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Embedding 33278 * 200 = 6,655,600; a layer 4 * 200 * (200 + 200) + 2 * 4 * 200 = 321,600, two
// of them 643,200; decoder 6,655,600 + 33,278. Together 13,987,678; tied 7,332,078.
TEST(LanguageModel, MatchesHandCalculation) {
  EXPECT_EQ(graph::parameter_count(build("lstm-lm")), 13987678);
  EXPECT_EQ(graph::parameter_count(build("lstm-lm:tied=1")), 7332078);
}

// Each token meets the matrices of both layers (2 * 320,000) and of the decoder (6,655,600).
TEST(LanguageModel, CountsItsProducts) {
  const graph::Graph model = build("lstm-lm:seq=35");
  EXPECT_DOUBLE_EQ(gemm_flops(model, 20), 2.0 * 35 * 20 * (2 * 320000.0 + 6655600.0));
}

TEST(LanguageModel, SecondLayerReadsTheFirst) {
  // w_ih of 4 * 300 rows over 100, then over 300.
  const std::int64_t first = 4 * 300 * (100 + 300 + 2);
  const std::int64_t second = 4 * 300 * (300 + 300 + 2);
  EXPECT_EQ(graph::parameter_count(build("lstm-lm:vocab=1000,emsize=100,hidden=300,layers=2")),
            1000 * 100 + first + second + 1000 * 300 + 1000);
}

TEST(LanguageModel, NamesParametersAsPyTorch) {
  const graph::Graph model = build("lstm-lm");
  EXPECT_TRUE(has_tensor(model, "encoder.weight"));
  EXPECT_TRUE(has_tensor(model, "rnn.weight_ih_l0"));
  EXPECT_TRUE(has_tensor(model, "rnn.bias_hh_l1"));
  EXPECT_TRUE(has_tensor(model, "decoder.bias"));
}

TEST(LanguageModel, TiesOnlyEqualWidths) {
  EXPECT_THROW(build("lstm-lm:emsize=100,hidden=200,tied=1"), Error);
}

}  // namespace
}  // namespace foretrain::zoo
