// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/memory_context.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

using measured::TestFolder;

// Rows in bytes; the column `gpus` is 2 in all, `model` says how many workers there were.
constexpr const char* kMapping = R"({"rules": [
  {"request": {"model": "mlp", "device": "t4", "batch": 64}},
  {"when": {"model": "two"}, "request": {"workers": 2}},
  {"when": {"metric": "used"}, "compare": {"number": "memory_peak_bytes"}},
  {"when": {"metric": "allocated"}, "compare": {"number": "memory_allocated_bytes"}}]})";

double tensors_bytes(int workers) {
  Request request = parse_request(R"({"model": "mlp", "device": "t4", "batch": 64})", "test");
  request.workers = workers;
  const MemoryReport memory = predict(request, load_library()).memory;
  return memory.peak - memory.framework;
}

std::string line(const char* model, double bytes, const char* metric = "used") {
  return measured::measurement_line(model, "T4", metric, std::to_string(bytes));
}

// A T4 (Turing) of one worker uses 700, 750 and 950 MB beyond its tensors, 750 in the median; of
// two workers 1,150 MB, so collectives take 400.
TEST(FitMemoryContext, TakesTheMedianBeyondTheTensors) {
  const TestFolder folder;
  const double alone = tensors_bytes(1);
  folder.write("used.json", kMapping);
  const auto data = folder.write(
      "used.csv", measured::kTrainingHeader + line("one", alone + 700e6) +
                      line("one", alone + 950e6) + line("one", alone + 750e6) +
                      line("two", tensors_bytes(2) + 1150e6) + line("one", 5e6, "allocated"));
  const Library library = load_library();
  const FittedContext fitted = fit_memory_context(data, library);
  ASSERT_EQ(fitted.numbers.size(), 2U);
  EXPECT_EQ(fitted.numbers[0].name, "gpu_bytes.turing");
  EXPECT_EQ(fitted.numbers[0].rows, 3U);
  EXPECT_EQ(fitted.numbers[0].before, library.memory_context->gpu.at("turing"));
  EXPECT_NEAR(fitted.context.gpu.at("turing"), 750e6, 1e5);
  EXPECT_NEAR(fitted.context.collectives, 400e6, 2e5);
  EXPECT_EQ(fitted.context.gpu.at("volta"), library.memory_context->gpu.at("volta"));
}

TEST(FitMemoryContext, MemoryThatAFrameworkCountsShowsNoContext) {
  const TestFolder folder;
  folder.write("used.json", kMapping);
  const auto data =
      folder.write("used.csv", measured::kTrainingHeader + line("one", 5e6, "allocated"));
  EXPECT_THROW(fit_memory_context(data, load_library()), Error);
}

}  // namespace
}  // namespace foretrain::fit
