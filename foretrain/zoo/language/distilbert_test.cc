// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Of DistilBertModel, DistilBertForMaskedLM and DistilBertForQuestionAnswering. By hand,
// h = 768: tables (30522 + 512) h + 2 h, six layers of 7,087,872 = 66,362,880; the head of
// masked words adds h^2 + 3 h + 30522.
constexpr Published kPublished[] = {
    {"distilbert-base-uncased:head=none", 66362880},
    {"distilbert-base-uncased", 66985530},
    {"distilbert-base", 66985530},
    {"distilbert-base:head=qa", 66364418},
};

TEST(DistilBert, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

TEST(DistilBert, CountsItsProducts) {
  const double h = 768;
  const double macs = 128 * 6 * (12 * h * h + 2 * 128 * h);
  EXPECT_NEAR(gemm_flops(build("distilbert-base:seq=128,head=none"), 1) / (2 * macs), 1, 1e-9);
}

TEST(DistilBert, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("distilbert-base");
  EXPECT_TRUE(has_tensor(model, "distilbert.transformer.layer.5.attention.q_lin.weight"));
  EXPECT_TRUE(has_tensor(model, "distilbert.transformer.layer.0.ffn.lin2.bias"));
  EXPECT_TRUE(has_tensor(model, "vocab_projector.bias"));
}

}  // namespace
}  // namespace foretrain::zoo
