// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// Published with NVIDIA's checkpoints. By hand: 148 * 512; three convolutions of 512 * 512 * 5
// with biases and norms, LSTM 2 (1024 * 768 + 2048); prenet 80 * 256 + 256^2; cells
// 4096 (768 + 1024) + 8192 and 4096 (1536 + 1024) + 8192; attention 128 (1024 + 512 + 1 + 32) +
// 32 * 2 * 31; 1537 * 81; postnet.
TEST(Tacotron2, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(graph::parameter_count(build("tacotron2")), 28193153);
  EXPECT_EQ(graph::parameter_count(build("tacotron2:frames=3,text=7")), 28193153);
}

// Per frame the prenet, both cells, the query and the projections, and for each of N characters
// the location's 32 * 2 * 31 + 32 * 128, 128 and the context's 512; then the postnet. Per
// character convolutions, LSTM and keys.
TEST(Tacotron2, CountsItsProducts) {
  const double n = 50;
  const double cells = 4096.0 * (768 + 1024) + 4096.0 * (1536 + 1024);
  const double step = cells + 1024 * 128 + n * (32 * 62 + 32 * 128 + 128 + 512) + 1536 * 81;
  const double prenet = 80 * 256 + 256 * 256;
  const double postnet = 5.0 * (2 * 80 * 512 + 3 * 512 * 512);
  const double character = 3.0 * 512 * 512 * 5 + 2 * 1024.0 * 768 + 512 * 128;
  const double flops = 2 * (20 * (prenet + step + postnet) + n * character);
  EXPECT_NEAR(gemm_flops(build("tacotron2:frames=20,text=50"), 1) / flops, 1, 1e-9);
}

TEST(Tacotron2, RunsItsDecoderOncePerFrame) {
  EXPECT_EQ(count(build("tacotron2:frames=20"), graph::Kind::Recurrent), 1 + 2 * 20);
  EXPECT_EQ(count(build("tacotron2:frames=20"), graph::Kind::Softmax), 20);
}

}  // namespace
}  // namespace foretrain::zoo
