// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/train/embedding_tests.h"

namespace foretrain::train {
namespace {

constexpr std::size_t kConv = 3;   // of term_names()
constexpr std::size_t kBytes = 8;  // of norms

// Networks of 8 families whose times are 2 seconds of FLOPs and 3 of bytes by the datasheet, and
// exp(0.3 e0) times that; the operator engine is off by the same factor.
EmbeddingData made() {
  EmbeddingData data{.with_operators = true};
  data.embedding.spread = {1, 1};
  for (int i = 0; i < 96; ++i) {
    EmbeddingExample one;
    one.model = "net" + std::to_string(i / 2);
    one.workload = one.model;
    one.family = "family" + std::to_string(i / 2 % 8);
    one.metric = "step";
    const double a = 0.1 * (i % 7) + 0.05;
    const double b = 0.03 * (i % 11) + 0.02;
    const double e = std::sin(i / 2);
    one.network.numbers = {static_cast<float>(e), static_cast<float>(i % 3)};
    one.job.terms.assign(embedding::term_names().size(), 0);
    one.job.terms[kConv] = a;
    one.job.terms[kBytes] = b;
    one.job.values.assign(embedding::job_feature_names(2).size(), 0);
    one.job.values[0] = e;
    one.job.values[1] = i % 3;
    one.job.words.assign(embedding::word_fields().size(), "same");
    one.job.words[1] = i % 2 == 0 ? "fp16" : "fp32";
    one.operators_s = 2 * a + 3 * b;
    one.time_s = (2 * a + 3 * b) * std::exp(0.3 * e);
    one.measured_s = {one.time_s};
    one.workers = 1 + i % 2;
    one.samples = 100;
    data.examples.push_back(one);
  }
  return data;
}

EmbeddingFit linear(bool residual) {
  EmbeddingFit fit{.residual = residual, .methods = {EmbeddingMethod::Linear}, .threads = 1};
  return fit;
}

TEST(FitEmbedding, LearnsAResidualAndItsInterval) {
  std::vector<EmbeddingScore> found;
  EmbeddingData data = made();
  const EmbeddingModel model = fit_embedding(data, linear(true), found);
  EXPECT_LT(model.error, 0.01);
  ASSERT_TRUE(model.low);
  EXPECT_LT(*model.high - *model.low, 0.05);
  EXPECT_EQ(model.families, 8U);
  EXPECT_EQ(model.rows, 96U);
  EXPECT_EQ(model.networks.size() % 2, 0U);
  // What did not vary is no feature.
  EXPECT_EQ(model.features,
            (std::vector<std::string>{"e0", "e1", "precision=fp16", "precision=fp32"}));
  // The same again gives the same file, and the file reads back.
  std::vector<EmbeddingScore> again;
  const std::string text = write_embedding_model(model, {});
  EXPECT_EQ(text, write_embedding_model(fit_embedding(data, linear(true), again), {}));
  EXPECT_EQ(read_embedding_model(text, "file").method, model.method);
}

TEST(FitEmbedding, FindsTheLawOfAPlainTarget) {
  std::vector<EmbeddingScore> found;
  const EmbeddingModel model = fit_embedding(made(), linear(false), found);
  EXPECT_LT(model.error, 0.1);
  EXPECT_EQ(model.terms.at(kConv), "conv");
  EXPECT_GT(model.form.law.weights[kConv], 1);
  EXPECT_GT(model.form.law.weights[kBytes], 1.5);
  EXPECT_EQ(model.form.law.weights[0], 0);
}

// In fp32 all takes twice as long: a law for each precision says so, one for all cannot.
TEST(FitEmbedding, FindsALawForEachPrecision) {
  EmbeddingData data = made();
  for (EmbeddingExample& one : data.examples) {
    const double seconds = 2 * one.job.terms[kConv] + 3 * one.job.terms[kBytes];
    one.time_s = one.job.words[1] == "fp32" ? 2 * seconds : seconds;
    one.measured_s = {one.time_s};
  }
  std::vector<EmbeddingScore> found;
  const EmbeddingModel model = fit_embedding(data, linear(false), found);
  const auto weight = [&](const std::string& name) {
    for (std::size_t i = 0; i < model.terms.size(); ++i) {
      if (model.terms[i] == name) return model.form.law.weights[i];
    }
    return -1.0;
  };
  EXPECT_NEAR(weight("conv@precision=fp16"), 2, 1e-6);
  EXPECT_NEAR(weight("conv@precision=fp32"), 4, 1e-6);
  EXPECT_NEAR(weight("norm_bytes@precision=fp32"), 6, 1e-6);
  EXPECT_LT(model.error, 0.01);
  const EmbeddingModel read = read_embedding_model(write_embedding_model(model, {}), "file");
  EXPECT_EQ(read.terms, model.terms);
}

TEST(FitEmbedding, LeavesTheTestSplitAlone) {
  EmbeddingData data = made();
  for (std::size_t i = 0; i < 48; ++i) {
    data.examples[i].split = "test";
    data.examples[i].measured_s = {1e6};
    data.examples[i].time_s = 1e6;
  }
  std::vector<EmbeddingScore> found;
  EXPECT_LT(fit_embedding(data, linear(true), found).error, 0.01);
}

TEST(FitEmbedding, NeedsThreeFamilies) {
  EmbeddingData data = made();
  for (std::size_t i = 0; i < data.examples.size(); ++i) {
    data.examples[i].family = i % 2 == 0 ? "a" : "b";
  }
  std::vector<EmbeddingScore> found;
  EXPECT_THROW(fit_embedding(data, linear(true), found), Error);
}

TEST(FitEmbedding, EveryMethodIsCompared) {
  EmbeddingData data = made();
  EmbeddingFit fit{.residual = true, .threads = 1};
  std::vector<EmbeddingScore> found;
  fit_embedding(data, fit, found);
  ASSERT_EQ(found.size(), all_embedding_methods().size());
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i - 1].error, found[i].error);
  for (const EmbeddingMethod method : all_embedding_methods()) {
    EXPECT_EQ(embedding_method_named(name_of(method)), method);
  }
  EXPECT_FALSE(embedding_method_named("magic"));
}

TEST(FamilyFolds, KeepFamiliesWhole) {
  const EmbeddingData data = made();
  std::vector<std::size_t> all(data.examples.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto folds = family_folds(data.examples, all, 4, 1);
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (data.examples[a].family != data.examples[b].family) continue;
      EXPECT_EQ(folds[a], folds[b]);
    }
  }
  EXPECT_EQ(std::set<std::size_t>(folds.begin(), folds.end()).size(), 4U);
}

TEST(TestEmbedding, ComparesWaysOnWhatIsLeftOut) {
  EmbeddingTesting options{.fit = linear(true), .methods = false, .curve = {5}, .ernest = {0, 1}};
  options.fit.folds = 4;
  const EmbeddingTests tests = test_embedding(made(), options);
  EXPECT_EQ(tests.rows, 96U);
  EXPECT_EQ(tests.networks, 48U);
  EXPECT_EQ(tests.families, 8U);
  const auto mean = [&](const std::string& way) {
    for (const WayScore& one : tests.ways) {
      if (one.way == way) return one.mean;
    }
    return -1.0;
  };
  EXPECT_LT(mean("residual"), 0.01);
  EXPECT_GT(mean("operators"), 0.1);
  EXPECT_GT(mean("FLOPs alone"), mean("plain"));
  ASSERT_EQ(tests.curve.size(), 1U);
  ASSERT_EQ(tests.ernest.size(), 2U);
  EXPECT_EQ(tests.ernest[0].workloads, 48U);
  EXPECT_EQ(tests.ernest[0].sample_s, 0);
  EXPECT_GT(tests.ernest[1].sample_s, 0);
  EXPECT_GT(tests.ernest[1].ernest, tests.ernest[1].residual);
}

}  // namespace
}  // namespace foretrain::train
