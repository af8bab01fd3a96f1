// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/predictor.h"

#include <gtest/gtest.h>

#include <atomic>

#include "foretrain/evaluate/report_number.h"

namespace foretrain::evaluate {
namespace {

// Every operator takes a millisecond; counts how often it was asked.
Library counting_library(std::atomic<int>& asked) {
  Library library = load_library();
  library.op_timer = [&asked](const graph::NodeView&, const graph::Work&, const cost::Context&) {
    ++asked;
    cost::OpTime time;
    time.total = time.compute = Seconds{1e-3};
    time.kernels = 1;
    return time;
  };
  return library;
}

const std::string kSmall = R"({"model": "mlp:layers=1", "device": "t4", "batch": 2})";
const std::string kLarge = R"({"model": "mlp:layers=3", "device": "t4", "batch": 2})";

TEST(Predictor, KeepsTheOrderAndPredictsEqualRequestsOnce) {
  std::atomic<int> asked = 0;
  const Library library = counting_library(asked);
  Predictor predictor(library, 1);
  const auto first = predictor.predict({kSmall, kLarge, kSmall});
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[0], first[2]);
  const std::size_t step = report_number_named("step_time_s");
  EXPECT_LT(*first[0]->numbers[step], *first[1]->numbers[step]);
  EXPECT_EQ(first[0]->batch, 2);
  EXPECT_EQ(first[0]->workers, 1);
  EXPECT_EQ(first[0]->precision, "fp32");
  const int before = asked;
  EXPECT_EQ(predictor.predict({kLarge})[0], first[1]);
  EXPECT_EQ(asked, before);
}

TEST(Predictor, KeepsTheReasonOfARefusal) {
  const Library library = load_library();
  Predictor predictor(library, 2);
  const auto predictions =
      predictor.predict({R"({"model": "nothing", "device": "t4"})", kSmall, "{"});
  EXPECT_NE(predictions[0]->error.find("nothing"), std::string::npos);
  EXPECT_EQ(predictions[1]->error, "");
  EXPECT_NE(predictions[2]->error, "");
}

TEST(Predictor, GivesTheSameOnAnyNumberOfThreads) {
  const Library library = load_library();
  std::vector<std::string> requests;
  for (int batch = 1; batch <= 12; ++batch) {
    requests.push_back(R"({"model": "resnet18-cifar", "device": "t4", "batch": )" +
                       std::to_string(batch) + "}");
  }
  Predictor one(library, 1);
  Predictor four(library, 4);
  const auto alone = one.predict(requests);
  const auto together = four.predict(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(alone[i]->numbers, together[i]->numbers);
  }
}

TEST(Predictor, PassesOnWhatIsNoAnswer) {
  Library library = load_library();
  library.op_timer = [](const graph::NodeView&, const graph::Work&,
                        const cost::Context&) -> cost::OpTime { throw std::bad_alloc(); };
  Predictor predictor(library, 2);
  EXPECT_THROW(predictor.predict({kSmall, kLarge}), std::bad_alloc);
}

}  // namespace
}  // namespace foretrain::evaluate
