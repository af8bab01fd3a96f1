// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/prediction_json.h"

#include <gtest/gtest.h>

#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::evaluate {
namespace {

Prediction predicted(const std::string& request) {
  const Library library = load_library();
  return *PredictionCache(library, 1).predict({request}).front();
}

const std::string kRequest = R"({"model":"resnet20-cifar","device":"t4","batch":3})";

TEST(PredictionJson, IsReadBackWithEveryBit) {
  const Prediction written = predicted(kRequest);
  const AnsweredRequest read = parse_prediction(prediction_json(kRequest, written), "here");
  EXPECT_EQ(read.request, kRequest);
  ASSERT_TRUE(read.prediction);
  EXPECT_EQ(read.prediction->numbers, written.numbers);
  EXPECT_EQ(read.prediction->breakdown.compute, written.breakdown.compute);
  EXPECT_EQ(read.prediction->breakdown.host, written.breakdown.host);
  EXPECT_EQ(read.prediction->regime, written.regime);
  EXPECT_EQ(read.prediction->fits, written.fits);
  EXPECT_EQ(read.prediction->model, written.model);
  EXPECT_EQ(read.prediction->batch, 3);
  EXPECT_EQ(read.prediction->workers, 1);
  EXPECT_EQ(read.prediction->precision, "fp32");
  EXPECT_EQ(read.prediction->error, "");
}

TEST(PredictionJson, KeepsARefusal) {
  const std::string request = R"({"model":"nothing","device":"t4"})";
  const Prediction written = predicted(request);
  const AnsweredRequest read = parse_prediction(prediction_json(request, written), "here");
  ASSERT_TRUE(read.prediction);
  EXPECT_EQ(read.prediction->error, written.error);
  EXPECT_TRUE(read.prediction->numbers.empty());
}

// JSON has no infinity: the reader is to predict it.
TEST(PredictionJson, LeavesOutWhatJsonCannotHold) {
  Prediction endless = predicted(kRequest);
  endless.numbers[0] = std::numeric_limits<double>::infinity();
  const AnsweredRequest read = parse_prediction(prediction_json(kRequest, endless), "here");
  EXPECT_EQ(read.request, kRequest);
  EXPECT_FALSE(read.prediction);
}

TEST(PredictionJson, RefusesOtherLines) {
  EXPECT_THROW(parse_prediction("{", "here"), Error);
  EXPECT_THROW(parse_prediction("{}", "here"), Error);
  EXPECT_THROW(
      parse_prediction(R"({"request":"r","error":"","precision":"fp32","numbers":[1],"model":"m"})",
                       "here"),
      Error);
}

TEST(PredictionCache, TakesWhatIsKnownBefore) {
  const Library library = load_library();
  Prediction known;
  known.error = "from elsewhere";
  PredictionCache cache(library, 1, [&](const std::string& request) {
    return request == kRequest ? std::optional(known) : std::nullopt;
  });
  const auto found = cache.predict({kRequest, R"({"model":"mlp","device":"t4"})"});
  EXPECT_EQ(found[0]->error, "from elsewhere");
  EXPECT_EQ(found[1]->error, "");
}

}  // namespace
}  // namespace foretrain::evaluate
