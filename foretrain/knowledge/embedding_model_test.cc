// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/embedding_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/knowledge/library.h"

namespace foretrain {
namespace {

// 0.5 + 2 x seconds of FLOPs, times exp(0.1 batch + 0.2 batch x share).
EmbeddingModel made() {
  EmbeddingModel model{.embedding = 77,
                       .features = {"log_batch", "share.conv"},
                       .terms = {"matrix", "conv"},
                       .method = "polynomial",
                       .width = 2,
                       .networks = {0, 1, 2, 3},
                       .reach = 0.5,
                       .error = 0.125,
                       .rows = 40,
                       .families = 5};
  model.form.law = {0.5, {2, 0}};
  model.form.map.features = {{{0, learn::TermKind::Raw}},
                             {{0, learn::TermKind::Raw}, {1, learn::TermKind::Raw}}};
  model.form.regressor = learn::LinearModel{0, {0.1, 0.2}};
  model.words = {{"precision", {"fp16", "fp32"}}};
  model.domain = {{0, {0, 5}}};
  model.low = -0.1;
  model.high = 0.25;
  return model;
}

std::string text() { return write_embedding_model(made(), {}); }

std::string refusal(const std::string& file) {
  try {
    read_embedding_model(file, "the file");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_NE(std::string(error.what()).find("the file"), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

// The file with something changed, and the checksum of what it then is where that can be told.
template <typename Change>
std::string changed(const Change& change) {
  EmbeddingModel model = made();
  change(model);
  return write_embedding_model(model, {});
}

TEST(EmbeddingModel, IsTheSameAfterAFile) {
  const EmbeddingModel read = read_embedding_model(text(), "the file");
  EXPECT_EQ(write_embedding_model(read, {}), text());
  EXPECT_EQ(read.features, made().features);
  EXPECT_EQ(read.words[0].words[1], "fp32");
  EXPECT_EQ(read.networks, made().networks);
  EXPECT_EQ(read.embedding, 77U);
  EXPECT_FALSE(read.residual);
}

// (0.5 + 2 x 0.25) exp(0.1 x 2 + 0.2 x 2 x 3) = exp(1.4); of the operator engine's 3 s, 3 exp(1.4).
TEST(EmbeddingModel, TellsTimes) {
  const EmbeddingForm form = read_embedding_model(text(), "the file").form;
  const std::vector<double> terms{0.25, 9};
  const std::vector<double> features{2, 3};
  EXPECT_NEAR(time_s(form, terms, features, std::nullopt), std::exp(1.4), 1e-12);
  EXPECT_NEAR(time_s(form, terms, features, 3), 3 * std::exp(1.4), 1e-12);
}

TEST(EmbeddingModel, IsKnownByItsFormat) {
  const Predictor predictor = parse_predictor(text(), "the file");
  ASSERT_TRUE(predictor.embedding);
  EXPECT_EQ(predictor.embedding->method, "polynomial");
  // Constants of predictions do not change with it.
  Library library = load_library();
  const std::string before = library.constants.text();
  use(library, predictor);
  EXPECT_EQ(library.constants.text(), before);
  EXPECT_TRUE(library.embedding);
  EXPECT_TRUE(copy_of(library).embedding);
}

TEST(EmbeddingModel, RefusesWhatIsDamaged) {
  EXPECT_EQ(refusal(text()), "");
  std::string damaged = text();
  damaged.replace(damaged.find("0.25"), 4, "0.26");
  EXPECT_NE(refusal(damaged).find("checksum"), std::string::npos);
  const std::string whole = text();
  for (std::size_t end = 0; end < whole.size() - 1; end += 7) {
    EXPECT_NE(refusal(whole.substr(0, end)), "") << end;
  }
  EXPECT_NE(refusal(R"({"format": "foretrain-scaling", "version": 1})"), "");
}

TEST(EmbeddingModel, RefusesWhatDoesNotFitTogether) {
  const auto place = [](auto& model) { model.form.map.features[0][0].variable = 2; };
  EXPECT_NE(refusal(changed(place)).find("products"), std::string::npos);
  const auto weights = [](auto& model) { model.form.regressor = learn::LinearModel{0, {1}}; };
  EXPECT_NE(refusal(changed(weights)), "");
  const auto law = [](auto& model) { model.form.law.weights[0] = -1; };
  EXPECT_NE(refusal(changed(law)).find("law"), std::string::npos);
  const auto table = [](auto& model) { model.networks.pop_back(); };
  EXPECT_NE(refusal(changed(table)).find("networks"), std::string::npos);
  const auto nan = [](auto& model) { model.networks[1] = NAN; };
  EXPECT_NE(refusal(changed(nan)).find("networks"), std::string::npos);
  const auto domain = [](auto& model) { model.domain[0].feature = 7; };
  EXPECT_NE(refusal(changed(domain)).find("domain"), std::string::npos);
  const auto half = [](auto& model) { model.low.reset(); };
  EXPECT_NE(refusal(changed(half)).find("half"), std::string::npos);
  const auto turned = [](auto& model) { model.low = 0.5; };
  EXPECT_NE(refusal(changed(turned)).find("interval"), std::string::npos);
  const auto sure = [](auto& model) { model.confidence = 1; };
  EXPECT_NE(refusal(changed(sure)).find("confidence"), std::string::npos);
}

}  // namespace
}  // namespace foretrain
