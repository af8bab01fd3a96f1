// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>

#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

std::string request_json(const std::string& model, int batch) {
  return R"({"model":")" + model + R"(","device":"v100-sxm2-16gb","workers":8,"batch":)" +
         std::to_string(batch) + "}";
}

// Text to text with a new batch size every time: nothing but the model's graph is known before.
void BM_Predict(benchmark::State& state, const std::string& model) {
  const Library library = load_library();
  int batch = 0;
  for (auto _ : state) {
    batch = batch % 256 + 1;
    const Request request = parse_request(request_json(model, batch), "bench");
    benchmark::DoNotOptimize(to_json(predict(request, library)));
  }
}
BENCHMARK_CAPTURE(BM_Predict, resnet50, "resnet50");
BENCHMARK_CAPTURE(BM_Predict, densenet121, "densenet121");
BENCHMARK_CAPTURE(BM_Predict, bert_large, "bert-large");
BENCHMARK_CAPTURE(BM_Predict, gpt2_xl, "gpt2-xl");
BENCHMARK_CAPTURE(BM_Predict, lstm_lm, "lstm-lm");

void BM_LoadLibrary(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(load_library());
}
BENCHMARK(BM_LoadLibrary);

}  // namespace
}  // namespace foretrain
