// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// With h = 1024 and a vocabulary of V = 32320; an LSTM over x reads 4 h (x + h) weights and
// has 8 h biases:
//   shared embedding                     V h                        33,095,680
//   encoder   both ways over h           16 h^2 + 16 h              16,793,600
//             over 2 h                   12 h^2 + 8 h               12,591,104
//             two over h                 2 (8 h^2 + 8 h)            16,793,600
//   decoder   over h                     8 h^2 + 8 h                 8,396,800
//             attention                  2 h^2 + 2 h + 1             2,099,201
//             three over 2 h             3 (12 h^2 + 8 h)           37,773,312
//             classifier                 V h + V                    33,128,000
// together 160,671,297, which NVIDIA's log of the model prints too.
TEST(Gnmt, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(graph::parameter_count(build("gnmt")), 160671297);
}

// Each layer more: an LSTM over h in the encoder, one over 2 h in the decoder.
TEST(Gnmt, GrowsByALayerOnEachSide) {
  const std::int64_t layer = 8 * 1024 * 1024 + 8 * 1024 + 12 * 1024 * 1024 + 8 * 1024;
  EXPECT_EQ(graph::parameter_count(build("gnmt:layers=6")), 160671297 + 2 * layer);
  EXPECT_EQ(graph::parameter_count(build("gnmt:layers=2")), 160671297 - 2 * layer);
}

// LSTM matrices per step: 16 + 12 + 2 * 8 = 44 h^2 in the encoder, 8 + 3 * 12 = 44 h^2 in the
// decoder; attention 2 h^2 a step, h per pair of target and source step for the scores and h
// for the sum; the classifier V h.
TEST(Gnmt, CountsItsProducts) {
  const double h = 1024;
  const double macs = 50 * ((44 + 44 + 2) * h * h + 32320 * h) + 50.0 * 50 * 2 * h;
  EXPECT_NEAR(gemm_flops(build("gnmt"), 1) / (2 * macs), 1, 1e-9);
}

TEST(Gnmt, RunsEveryLayerOverTheWholeSequence) {
  EXPECT_EQ(count(build("gnmt"), graph::Kind::Recurrent), 8);
}

}  // namespace
}  // namespace foretrain::zoo
