// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/lengths.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace foretrain::memory {
namespace {

// Deviation over mean 0.25: width sqrt(ln 1.0625) = 0.24622. Nothing is cut at 100 deviations.
// The first step is at the quantile 0.618034, 0.30031 deviations above the median
// 1000 exp(-0.030312) = 970.14: 970.14 exp(0.24622 * 0.30031) = 1044.6 of 1e5 tokens.
TEST(BatchShares, AreQuantilesOfTheLengths) {
  const std::vector<double> shares = batch_shares({1000, 250}, 1e5, 1);
  EXPECT_NEAR(shares.front(), 0.010446, 1e-5);
}

TEST(BatchShares, TheLongestBatchIsWhole) {
  for (const double longest : {512.0, 4096.0, 1e6}) {
    const std::vector<double> shares = batch_shares({3234.4, 2547.5}, longest, 1);
    EXPECT_EQ(*std::max_element(shares.begin(), shares.end()), 1);
    EXPECT_GT(*std::min_element(shares.begin(), shares.end()), 0);
  }
}

// The longest of eight samples is longer than one of them.
TEST(BatchShares, LargerBatchesAreLonger) {
  const std::vector<double> one = batch_shares({3234.4, 2547.5}, 8192, 1);
  const std::vector<double> eight = batch_shares({3234.4, 2547.5}, 8192, 8);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_LE(one[i], eight[i]);
}

}  // namespace
}  // namespace foretrain::memory
