// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/memory_intervals.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/predict/predict.h"

namespace foretrain::fit {
namespace {

using measured::TestFolder;

constexpr const char* kMapping = R"({"rules": [
  {"request": {"model": "mlp", "device": "t4", "batch": 64}},
  {"when": {"metric": "allocated"}, "compare": {"number": "memory_allocated_bytes"}},
  {"when": {"metric": "time"}, "compare": {"number": "step_time_s"}}]})";

// Rows of 0.9 to 1.1 times what is predicted, and a time, which says nothing of memory.
std::string rows(int count) {
  const Request request = parse_request(R"({"model": "mlp", "device": "t4", "batch": 64})", "test");
  const double predicted = predict(request, load_library()).memory.allocated;
  std::string text = measured::kTrainingHeader;
  for (int i = 0; i < count; ++i) {
    const double bytes = predicted * (0.9 + 0.2 * i / (count - 1));
    text += measured::measurement_line("one", "T4", "allocated", std::to_string(bytes));
  }
  return text + measured::measurement_line("one", "T4", "time", "1");
}

// Four sources alike: the others' intervals hold nearly all rows of each, and half of them are at
// most as predicted.
TEST(FitMemoryIntervals, CoverSourcesThatAreLeftOut) {
  const TestFolder folder;
  for (const char* name : {"a", "b", "c", "d"}) {
    folder.write(std::string(name) + ".json", kMapping);
    folder.write(std::string(name) + ".csv", rows(21));
  }
  const FittedMemoryIntervals fitted = fit_memory_intervals(folder.path(), {}, load_library());
  ASSERT_EQ(fitted.sources.size(), 4U);
  for (const SourceScore& one : fitted.sources) {
    EXPECT_EQ(one.rows, 21U);
    EXPECT_GE(one.coverage, 0.9);
  }
  const MemoryCell& all = fitted.intervals.cells.at("");
  EXPECT_EQ(all.rows, 84U);
  EXPECT_EQ(all.sources, 4U);
  EXPECT_NEAR(share_within(all, 1), 0.5, 0.05);
  EXPECT_NEAR(all.high, 0.09, 0.02);
  EXPECT_EQ(word(fitted.cases.front().measured.regime, Trait::Counter), "allocated");
}

TEST(FitMemoryIntervals, NeedThreeSources) {
  const TestFolder folder;
  folder.write("a.json", kMapping);
  folder.write("a.csv", rows(3));
  EXPECT_THROW(fit_memory_intervals(folder.path(), {}, load_library()), Error);
}

}  // namespace
}  // namespace foretrain::fit
