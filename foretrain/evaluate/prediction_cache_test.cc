// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/prediction_cache.h"

#include <gtest/gtest.h>

#include "foretrain/measured/report_number.h"

namespace foretrain::evaluate {
namespace {

const std::string kSmall = R"({"model": "mlp:layers=1", "device": "t4", "batch": 2})";
const std::string kLarge = R"({"model": "mlp:layers=3", "device": "t4", "batch": 2})";

TEST(PredictionCache, KeepsTheOrderAndPredictsEqualRequestsOnce) {
  const Library library = load_library();
  PredictionCache cache(library, 1);
  const auto first = cache.predict({kSmall, kLarge, kSmall});
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[0], first[2]);
  const std::size_t step = measured::report_number_named("step_time_s");
  EXPECT_LT(*first[0]->numbers[step], *first[1]->numbers[step]);
  EXPECT_EQ(first[0]->batch, 2);
  EXPECT_EQ(first[0]->workers, 1);
  EXPECT_EQ(first[0]->precision, "fp32");
  EXPECT_EQ(cache.predict({kLarge})[0], first[1]);
}

// A file's network may have the name of a built-in one.
TEST(PredictionCache, NamesBuiltInModelsAlone) {
  const Library library = load_library();
  PredictionCache cache(library, 1);
  const auto predictions =
      cache.predict({kSmall, R"({"model": "fuzz/corpus/onnx_fuzz/conv.onnx", "device": "t4"})"});
  EXPECT_EQ(predictions[0]->model, "mlp");
  EXPECT_EQ(predictions[1]->error, "");
  EXPECT_EQ(predictions[1]->model, "");
}

TEST(PredictionCache, KeepsTheReasonOfARefusal) {
  const Library library = load_library();
  PredictionCache cache(library, 2);
  const auto predictions = cache.predict({R"({"model": "nothing", "device": "t4"})", kSmall, "{"});
  EXPECT_NE(predictions[0]->error.find("nothing"), std::string::npos);
  EXPECT_EQ(predictions[1]->error, "");
  EXPECT_NE(predictions[2]->error, "");
}

TEST(PredictionCache, GivesTheSameOnAnyNumberOfThreads) {
  const Library library = load_library();
  std::vector<std::string> requests;
  for (int batch = 1; batch <= 12; ++batch) {
    requests.push_back(R"({"model": "resnet18-cifar", "device": "t4", "batch": )" +
                       std::to_string(batch) + "}");
  }
  PredictionCache one(library, 1);
  PredictionCache four(library, 4);
  const auto alone = one.predict(requests);
  const auto together = four.predict(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(alone[i]->numbers, together[i]->numbers);
  }
}

}  // namespace
}  // namespace foretrain::evaluate
