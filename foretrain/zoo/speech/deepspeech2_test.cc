// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Two convolutions 32 * 41 * 11 + 32 and 32 * 32 * 21 * 11 + 32, with norms of 64 each; GRU
// layers of 2 * (3 * 800 (in + 800) + 2 * 2400): in = 32 * 41 = 1312, then 800 four times with a
// norm of 1600; the last norm and 800 * 29. Pollux calls it 41.2 M.
TEST(DeepSpeech2, MatchesHandCalculation) {
  const std::int64_t convolutions = 14464 + 236576 + 2 * 64;
  const std::int64_t first = 2 * (2400 * 2112 + 4800);
  const std::int64_t others = 4 * (2 * (2400 * 1600 + 4800) + 1600);
  EXPECT_EQ(graph::parameter_count(build("deepspeech2")),
            convolutions + first + others + 1600 + 23200);
}

// LSTM layers of 2 * (4 * 1024 (in + 1024) + 2 * 4096), norms of 2048.
TEST(DeepSpeech2, TheThirdVersionHasLstmLayers) {
  const std::int64_t convolutions = 14464 + 236576 + 2 * 64;
  const std::int64_t first = 2 * (4096 * (1312 + 1024) + 8192);
  const std::int64_t others = 4 * (2 * (4096 * 2048 + 8192) + 2048);
  EXPECT_EQ(graph::parameter_count(build("deepspeech2:cell=lstm,hidden=1024")),
            convolutions + first + others + 2048 + 1024 * 29);
}

// 480 frames are 240 after the first convolution; 161 frequencies 81, then 41. Each step meets
// the weights of both directions.
TEST(DeepSpeech2, CountsItsProducts) {
  const double first = 32.0 * 81 * 240 * 41 * 11;
  const double second = 32.0 * 41 * 240 * 32 * 21 * 11;
  const double recurrent = 240 * 2 * 2400.0 * (2112 + 4 * 1600);
  const double flops = 2 * (first + second + recurrent + 240.0 * 800 * 29);
  EXPECT_NEAR(gemm_flops(build("deepspeech2"), 1) / flops, 1, 1e-9);
}

// The recurrent layers follow the frames: as much per frame for any number.
TEST(DeepSpeech2, WorkIsProportionalToTheFrames) {
  EXPECT_DOUBLE_EQ(gemm_flops(build("deepspeech2:frames=960"), 1),
                   2 * gemm_flops(build("deepspeech2"), 1));
}

TEST(DeepSpeech2, SaysWhatStandsForItsLoss) { EXPECT_EQ(build("deepspeech2").notes.size(), 1U); }

}  // namespace
}  // namespace foretrain::zoo
