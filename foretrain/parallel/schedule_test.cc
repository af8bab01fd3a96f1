// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace foretrain::parallel {
namespace {

// "F0 F1 B0": passes and micro-batches; with several parts "F0.1" for part 1.
std::string text(const Pipeline& pipeline, int stage) {
  std::string result;
  for (const PipelinePass& pass : passes_of(pipeline, stage)) {
    if (!result.empty()) result += ' ';
    result += pass.backward ? 'B' : 'F';
    result += std::to_string(pass.micro_batch);
    if (pipeline.parts > 1) result += '.' + std::to_string(pass.part);
  }
  return result;
}

TEST(Schedule, GPipeRunsAllForwardPassesFirst) {
  const Pipeline pipeline{2, 1, 3, PassOrder::GPipe};
  EXPECT_EQ(text(pipeline, 0), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(text(pipeline, 1), "F0 F1 F2 B0 B1 B2");
}

// Stage s of p runs p - s - 1 forward passes ahead.
TEST(Schedule, OneFOneBAlternates) {
  const Pipeline pipeline{3, 1, 4, PassOrder::OneFOneB};
  EXPECT_EQ(text(pipeline, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(text(pipeline, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text(pipeline, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(Schedule, FewMicroBatchesAreAllAhead) {
  EXPECT_EQ(text({4, 1, 2, PassOrder::OneFOneB}, 0), "F0 F1 B0 B1");
}

TEST(Schedule, InferenceHasNoBackwardPasses) {
  EXPECT_EQ(text({2, 1, 2, PassOrder::Forward}, 1), "F0 F1");
}

// p = 2, v = 2, m = 4: 2 (p - s - 1) + (v - 1) p passes ahead: 4 and 2.
TEST(Schedule, InterleavedGoesThroughPartAfterPart) {
  const Pipeline pipeline{2, 2, 4, PassOrder::OneFOneB};
  EXPECT_EQ(text(pipeline, 1),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
  EXPECT_TRUE(text(pipeline, 0).starts_with("F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1"));
}

TEST(Schedule, MostMicroBatchesInFlight) {
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(most_kept({4, 1, 8, PassOrder::OneFOneB}, stage, {1}), 4 - stage);
    EXPECT_EQ(most_kept({4, 1, 8, PassOrder::GPipe}, stage, {1}), 8);
    EXPECT_EQ(most_kept({4, 1, 2, PassOrder::OneFOneB}, stage, {1}), std::min(2, 4 - stage));
    // 2 (p - s - 1) + (v - 1) p + 1 of halves
    EXPECT_EQ(most_kept({4, 2, 8, PassOrder::OneFOneB}, stage, {0.5, 0.5}),
              (2 * (3 - stage) + 4 + 1) / 2.0);
  }
}

TEST(Schedule, EveryPassRunsOnce) {
  for (const int parts : {1, 3}) {
    const Pipeline pipeline{4, parts, 8, PassOrder::OneFOneB};
    for (int stage = 0; stage < 4; ++stage) {
      std::vector<int> seen(static_cast<std::size_t>(2 * parts * 8), 0);
      for (const PipelinePass& pass : passes_of(pipeline, stage)) {
        ++seen[static_cast<std::size_t>((pass.backward ? parts * 8 : 0) + pass.part * 8 +
                                        pass.micro_batch)];
      }
      for (const int times : seen) EXPECT_EQ(times, 1);
    }
  }
}

}  // namespace
}  // namespace foretrain::parallel
