// SPDX-License-Identifier: Apache-2.0
// A model of eight times the layers or steps takes about eight times as long to predict.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

// Processor time of a prediction, the least of two.
double processor_time(const std::string& model) {
  double least = 1e18;
  for (int i = 0; i < 2; ++i) {
    const Library library = load_library();  // which keeps graphs
    Request request;
    request.model = model;
    request.device = Described{"a100-sxm4-80gb", false};
    const std::clock_t start = std::clock();
    predict(request, library);
    least = std::min(least, static_cast<double>(std::clock() - start));
  }
  return least;
}

// In proportion it is 8, by squares 64: 1024 layers on each side took 11 s, 8192 frames 9 s.
TEST(Prediction, TakesTimeInProportionToTheModel) {
  for (const auto& [small, large] : {std::pair("tacotron2:frames=128", "tacotron2:frames=1024"),
                                     std::pair("flan-t5-xl:layers=16,decoder_layers=16",
                                               "flan-t5-xl:layers=128,decoder_layers=128")}) {
    EXPECT_LT(processor_time(large) / processor_time(small), 24) << large;
  }
}

}  // namespace
}  // namespace foretrain
