// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/buckets.h"

#include <gtest/gtest.h>

namespace foretrain::graph {
namespace {

// 3 fills the first bucket of 2; then 4 + 5 + 1 reach 10, and 2 is left over.
TEST(Buckets, CloseWhenTheyHoldEnough) {
  const std::vector<double> bytes{3, 4, 5, 1, 2};
  EXPECT_EQ(bucket_ends(bytes, {2, 10}), (std::vector<std::size_t>{1, 4, 5}));
}

TEST(Buckets, OfNoBytesHoldOneEach) {
  const std::vector<double> bytes{3, 4};
  EXPECT_EQ(bucket_ends(bytes, {0, 0}), (std::vector<std::size_t>{1, 2}));
}

TEST(Buckets, OfNothingAreNone) {
  EXPECT_TRUE(bucket_ends({}, {2, 10}).empty());
  const std::vector<double> empty{0, 0};
  EXPECT_TRUE(bucket_ends(empty, {2, 10}).empty());
}

}  // namespace
}  // namespace foretrain::graph
