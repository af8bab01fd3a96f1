// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/checksum.h"

#include <gtest/gtest.h>

namespace foretrain::learn {
namespace {

// The check value that the definition of CRC-32 gives.
TEST(Checksum, IsCrc32) {
  EXPECT_EQ(checksum("123456789"), 0xCBF43926U);
  EXPECT_EQ(checksum(""), 0U);
}

}  // namespace
}  // namespace foretrain::learn
