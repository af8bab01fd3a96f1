// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Of RobertaModel, RobertaForMaskedLM and RobertaForQuestionAnswering. By hand, h = 768: tables
// (50265 + 514 + 1) h + 2 h, twelve layers of 7,087,872, pooler h^2 + h = 124,645,632; the head
// of masked words adds h^2 + 3 h + 50265 and drops the pooler.
constexpr Published kPublished[] = {
    {"roberta-base:head=none", 124645632},  {"roberta-base", 124697433},
    {"roberta-base:head=qa", 124056578},    {"roberta-base:seq=128", 124697433},
    {"roberta-large:head=none", 355359744}, {"roberta-large", 355412057},
};

TEST(Roberta, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

// Per token and layer 12 h^2 and 2 S h, and the head: h^2 and 50265 h.
TEST(Roberta, CountsItsProducts) {
  const double h = 768;
  const double macs = 512 * (12 * (12 * h * h + 2 * 512 * h) + h * h + 50265 * h);
  EXPECT_NEAR(gemm_flops(build("roberta-base"), 1) / (2 * macs), 1, 1e-9);
}

TEST(Roberta, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("roberta-base");
  EXPECT_TRUE(has_tensor(model, "roberta.encoder.layer.11.attention.self.value.bias"));
  EXPECT_TRUE(has_tensor(model, "lm_head.layer_norm.weight"));
  EXPECT_TRUE(has_tensor(model, "lm_head.bias"));
  EXPECT_FALSE(has_tensor(model, "lm_head.decoder.weight"));  // tied
}

}  // namespace
}  // namespace foretrain::zoo
