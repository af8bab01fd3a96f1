// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/detail/pack_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "foretrain/base/error.h"

namespace foretrain::store {
namespace {

TEST(PackSamples, KeepsMultiplesOfAQuantumExactly) {
  const std::vector<double> values{0, 128, 12.25, 99.875, -64, 0};  // quantum 1/8
  EXPECT_EQ(unpack_samples(pack_samples(values)), values);
}

// Half a quantum of 125 MB/s / 1024.
TEST(PackSamples, IsOffByHalfAQuantumAtMost) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(125e6 * std::abs(std::sin(i * 0.37)));
  values.push_back(125e6);
  const std::vector<double> read = unpack_samples(pack_samples(values));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(read[i], values[i], 61'036);
  EXPECT_EQ(pack_samples(read), pack_samples(values));
}

TEST(PackSamples, UnknownStaysUnknown) {
  const std::vector<double> read = unpack_samples(pack_samples({std::nan(""), 2, std::nan(""), 1}));
  ASSERT_EQ(read.size(), 4U);
  EXPECT_TRUE(std::isnan(read[0]) && std::isnan(read[2]));
  EXPECT_EQ(read[1], 2);
  EXPECT_EQ(read[3], 1);
}

TEST(PackSamples, NothingAndZerosAreKept) {
  EXPECT_TRUE(unpack_samples(pack_samples({})).empty());
  EXPECT_EQ(unpack_samples(pack_samples({0, 0})), (std::vector<double>{0, 0}));
}

// 2,000 windows of a level that hardly changes: far below a byte each.
TEST(PackSamples, FlatCurvesTakeNextToNothing) {
  EXPECT_LT(pack_samples(std::vector<double>(2000, 3e8)).size(), 60U);
}

TEST(PackSamples, WhatIsNoPackIsRefused) {
  const std::string good = pack_samples({1, 2, 3});
  EXPECT_THROW(unpack_samples(""), Error);
  EXPECT_THROW(unpack_samples("nonsense"), Error);
  EXPECT_THROW(unpack_samples(good.substr(0, good.size() - 3)), Error);
}

}  // namespace
}  // namespace foretrain::store
