// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Of BERT-base by hand, h = 768: tables (30522 + 512 + 2) h + 2 h = 23,837,184; a layer
// 12 h^2 + 13 h = 7,087,872, twelve of them 85,054,464; pooler h^2 + h = 590,592: 109,482,240.
// The heads add: pretraining h^2 + 3 h + 30522 + 2 h + 2; qa 2 h + 2 less the pooler.
constexpr Published kPublished[] = {
    {"bert-base:head=none", 109482240}, {"bert-base", 110106428},
    {"bert-base-uncased", 110106428},   {"bert-base:head=mlm", 109514298},
    {"bert-base:head=qa", 108893186},   {"bert-base:head=classification", 109483778},
    {"bert-base:seq=128", 110106428},   {"bert-large:head=none", 335141888},
    {"bert-large", 336226108},          {"bert-large:seq=512,head=qa", 334094338},
};

// Of the Hugging Face class that the head names.
TEST(Bert, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

// Per token and layer 4 h^2 + 2 h * 4 h = 12 h^2 = 7,077,888 multiply-adds for the linear
// layers and 2 S h for scores and values; S = 128: 12 * (7,077,888 + 196,608) * 128 =
// 11.174 G multiply-adds. The bare model adds its pooler: 768^2 = 0.0006 G.
TEST(Bert, CountsTheProductsOfItsLayers) {
  const double layers = 12.0 * (12.0 * 768 * 768 + 2.0 * 128 * 768) * 128;
  EXPECT_NEAR(layers, 11.174e9, 0.001e9);
  const graph::Graph model = build("bert-base:seq=128,head=none");
  EXPECT_NEAR(gemm_flops(model, 1) / (2 * (layers + 768.0 * 768)), 1, 1e-9);
  EXPECT_NEAR(gemm_flops(model, 1) / (2 * layers), 1, 0.005);
}

// The head multiplies every token by h^2 and by the table of 30522 h.
TEST(Bert, PretrainingPredictsEveryToken) {
  const double head = 2.0 * 512 * (1024.0 * 1024 + 30522.0 * 1024) + 2.0 * 2 * 1024;
  const double bare = gemm_flops(build("bert-large:head=none"), 1);
  EXPECT_NEAR(gemm_flops(build("bert-large"), 1), bare + head, 1e-6 * head);
}

// 80 of 512 places: the head's GEMMs shrink alike, its parameters stay.
TEST(Bert, PretrainingMayPredictMaskedPlacesAlone) {
  const graph::Graph model = build("bert-large:places=80");
  const double head = 2.0 * 80 * (1024.0 * 1024 + 30522.0 * 1024) + 2.0 * 2 * 1024;
  const double bare = gemm_flops(build("bert-large:head=none"), 1);
  EXPECT_NEAR(gemm_flops(model, 1), bare + head, 1e-6 * head);
  EXPECT_EQ(graph::parameter_count(model), 336226108);
}

TEST(Bert, WorkIsProportionalToTheBatch) {
  const graph::Graph model = build("bert-base");
  EXPECT_DOUBLE_EQ(gemm_flops(model, 8), 8 * gemm_flops(model, 1));
}

TEST(Bert, NamesParametersAsHuggingFace) {
  const graph::Graph bare = build("bert-base:head=none");
  EXPECT_TRUE(has_tensor(bare, "encoder.layer.0.attention.self.query.weight"));
  EXPECT_TRUE(has_tensor(bare, "encoder.layer.11.output.LayerNorm.bias"));
  const graph::Graph model = build("bert-base");
  EXPECT_TRUE(has_tensor(model, "bert.embeddings.word_embeddings.weight"));
  EXPECT_TRUE(has_tensor(model, "bert.pooler.dense.bias"));
  EXPECT_TRUE(has_tensor(model, "cls.predictions.transform.LayerNorm.weight"));
  EXPECT_TRUE(has_tensor(model, "cls.predictions.bias"));
  EXPECT_FALSE(has_tensor(model, "cls.predictions.decoder.weight"));  // tied
}

TEST(Bert, TrainsWithEveryHeadButNone) {
  for (const char* head : {"pretraining", "mlm", "qa", "classification"}) {
    EXPECT_TRUE(build(std::string("bert-base:head=") + head).loss.has_value()) << head;
  }
  EXPECT_FALSE(build("bert-base:head=none").loss.has_value());
}

TEST(Bert, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(build("bert-base:head=ner"), Error);
  EXPECT_THROW(build("bert-base:labels=3"), Error);           // only of a classification
  EXPECT_THROW(build("bert-base:head=qa,places=20"), Error);  // only of words
  EXPECT_THROW(build("bert-base:head=classification,labels=1"), Error);
}

}  // namespace
}  // namespace foretrain::zoo
