// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/predict_many.h"

#include <gtest/gtest.h>

#include "foretrain/predict/advice.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

TEST(PredictMany, AnswersInOrderWhateverTheThreads) {
  const Library library = load_library();
  std::vector<std::string> lines;
  for (int batch = 1; batch <= 40; ++batch) {
    lines.push_back(R"({"model": "mlp", "device": "t4", "batch": )" + std::to_string(batch) + "}");
  }
  lines[20] = R"({"model": "mlp", "device": "t5"})";
  lines[30] = "{";
  const std::vector<std::string> answers = predict_many(lines, 101, 3, library);
  EXPECT_EQ(answers, predict_many(lines, 101, 1, library));
  EXPECT_EQ(answers[7], to_json(predict(parse_request(lines[7], ""), library)));
  EXPECT_NE(answers[20].find(R"("kind":"NotFound")"), std::string::npos);
  EXPECT_NE(answers[30].find("line 131"), std::string::npos) << answers[30];
}

// A batch that no T4 holds; single predictions are advised in the same words.
TEST(PredictMany, AdvisesWhereItIsAsked) {
  const Library library = load_library();
  const std::string line = R"({"model": "resnet50", "device": "t4", "batch": 4096})";
  const std::string plain = predict_many({line}, 1, 1, library).front();
  const std::string advised = predict_many({line}, 1, 1, library, true).front();
  EXPECT_NE(plain.find(R"("would_fit":[])"), std::string::npos);
  EXPECT_EQ(advised, to_json(predict_and_advise(parse_request(line, ""), library)));
  EXPECT_NE(advised.find(R"("change":)"), std::string::npos);
}

}  // namespace
}  // namespace foretrain
