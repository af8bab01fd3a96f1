// SPDX-License-Identifier: Apache-2.0
// Fuzzing starts from files that are read to their end. A seed that lacks a field which its format
// has gained is refused at once, and what lies behind is never reached.
#include <gtest/gtest.h>

#include <string>

#include "foretrain/base/file.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

constexpr std::uintmax_t kLargest = 1 << 20;

TEST(FuzzSeeds, OfPredictorsArePredictedWith) {
  const Library library = load_library();
  const Request request = parse_request(
      R"({"model": "mlp", "device": "t4", "workers": 2, "network": "10gbe", "batch": 8})", "test");
  for (const char* name : {"calibration", "collectives", "exchange", "frameworks", "memory_context",
                           "operators", "straggling"}) {
    const std::string file = std::string("fuzz/corpus/predictor_fuzz/") + name + ".json";
    Library changed = copy_of(library);
    use(changed, parse_predictor(read_file(file, kLargest), file));
    EXPECT_GT(predict(request, changed).step_time_s.value, 0) << file;
  }
}

}  // namespace
}  // namespace foretrain
