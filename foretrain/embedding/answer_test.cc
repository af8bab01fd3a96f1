// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/answer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/embedding/embed.h"
#include "foretrain/embedding/job_features.h"
#include "foretrain/knowledge/embedding_model.h"
#include "foretrain/operators/answer.h"
#include "foretrain/request/request.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::embedding {
namespace {

class EmbeddingAnswer : public testing::Test {
 protected:
  // A step takes 0.5 s times exp(0.01 log batch); measured of resnet18 and vgg11 on a t4.
  EmbeddingAnswer() {
    Embedder embedder(shipped_embedding());
    model_.embedding = embedder.embedding().checksum;
    model_.features = {"log_batch"};
    model_.terms = {"matrix", "conv@device=t4", "once"};
    model_.form.law = {0.5, std::vector<double>(model_.terms.size())};
    model_.form.map.features = {{{0, learn::TermKind::Raw}}};
    model_.form.regressor = learn::LinearModel{0, {0.01}};
    model_.words = {{"device", {"t4"}}, {"precision", {"fp32"}}};
    model_.domain = {{0, {std::log(16.0), std::log(64.0)}}};
    model_.width = embedder.embedding().spread.size();
    for (const char* name : {"resnet18", "vgg11"}) {
      for (const float one : embedder.embed(zoo::build(name))) model_.networks.push_back(one);
    }
    model_.reach = 0.5;
    model_.low = std::log(0.9);
    model_.high = std::log(1.25);
  }

  Target ask(const std::string& request) {
    library_.embedding = std::make_shared<const EmbeddingModel>(model_);
    const Resolved resolved = resolve(parse_request(request, "test"), library_);
    const auto answer = EmbeddingEngine().answer(Question(resolved, library_));
    return answer ? answer->targets.at(0) : Target{"none", {}, false, ""};
  }

  EmbeddingModel model_;
  Library library_ = load_library();
};

// A law of half precision alone says nothing of single precision.
TEST_F(EmbeddingAnswer, DoesNotAnswerWhereNoLawHolds) {
  model_.terms = {"conv@precision=fp16", "once@precision=fp16"};
  model_.form.law = {1e-9, {2, 0.5}};
  EXPECT_EQ(ask(R"({"model": "resnet34", "device": "t4", "batch": 32})").name, "none");
}

// 0.5 exp(0.01 log 32), from 0.9 to 1.25 times that; resnet34 was not measured, but is near.
TEST_F(EmbeddingAnswer, TellsTheStepOfANetworkNeverRun) {
  const Target step = ask(R"({"model": "resnet34", "device": "t4", "batch": 32})");
  const double expected = 0.5 * std::exp(0.01 * std::log(32));
  EXPECT_EQ(step.name, "step_time_s");
  EXPECT_NEAR(step.estimate.value, expected, 1e-12);
  EXPECT_NEAR(step.estimate.low.value(), 0.9 * expected, 1e-12);
  EXPECT_NEAR(step.estimate.high.value(), 1.25 * expected, 1e-12);
  EXPECT_TRUE(step.inside);
}

TEST_F(EmbeddingAnswer, SaysWhereNothingLikeItWasMeasured) {
  EXPECT_FALSE(ask(R"({"model": "resnet34", "device": "t4", "batch": 128})").inside);
  EXPECT_FALSE(ask(R"({"model": "resnet34", "device": "v100", "batch": 32})").inside);
  EXPECT_FALSE(
      ask(R"({"model": "resnet34", "device": "t4", "batch": 32, "precision": "fp16"})").inside);
  EXPECT_FALSE(ask(R"({"model": "bert-base", "device": "t4", "batch": 32})").inside);
}

TEST_F(EmbeddingAnswer, NeedsTheLengthOfAJobWhereItWasFittedToJobs) {
  model_.time = TimeOf::Total;
  const std::string job = R"({"model": "resnet34", "device": "t4", "batch": 32)";
  EXPECT_EQ(ask(job + "}").name, "none");
  const Target step = ask(job + R"(, "steps": 10})");
  EXPECT_NEAR(step.estimate.value, 0.05 * std::exp(0.01 * std::log(32)), 1e-12);
}

// exp(log 1.5) times what operators say; with other constants it is refused.
TEST_F(EmbeddingAnswer, CorrectsTheOperatorEngine) {
  model_.residual = true;
  model_.features = {"log_operators"};
  model_.domain.clear();
  model_.form.regressor = learn::LinearModel{std::log(1.5), {0}};
  const std::string request = R"({"model": "resnet34", "device": "t4", "batch": 32})";
  EXPECT_THROW(ask(request), Error);
  model_.constants = library_.constants.text();
  const Target step = ask(request);
  library_.embedding.reset();
  const Resolved resolved = resolve(parse_request(request, "test"), library_);
  const Question question(resolved, library_);
  EXPECT_NEAR(step.estimate.value, 1.5 * operators::detail_of(question).step.value, 1e-12);
}

TEST_F(EmbeddingAnswer, RefusesAnotherEmbeddingOrUnknownFeatures) {
  const std::string request = R"({"model": "resnet34", "device": "t4", "batch": 32})";
  ++model_.embedding;
  EXPECT_THROW(ask(request), Error);
  --model_.embedding;
  EXPECT_NO_THROW(ask(request));
  model_.features = {"log_magic"};
  EXPECT_THROW(ask(request), Error);
}

TEST_F(EmbeddingAnswer, KeepsWhatItKnowsOfANamedModel) {
  const Embedding embedding = shipped_embedding();
  const Resolved resolved =
      resolve(parse_request(R"({"model": "resnet34", "device": "t4"})", "test"), library_);
  const auto first = embed_model(resolved, embedding, library_);
  EXPECT_EQ(embed_model(resolved, embedding, library_), first);
  EXPECT_EQ(first->numbers, Embedder(embedding).embed(zoo::build("resnet34")));
}

}  // namespace
}  // namespace foretrain::embedding
