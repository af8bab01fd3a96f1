// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/product.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

// 65536^2 is 2^32, which an int of 32 bits holds as 0.
TEST(CheckedProduct, HoldsWhatAnIntCannot) {
  EXPECT_EQ(checked_product({65536, 65536}, "x"), 4294967296);
  EXPECT_EQ(checked_product({}, "x"), 1);
  EXPECT_EQ(checked_product({7, 0, 1'000'000'000}, "x"), 0);
}

TEST(CheckedProduct, RefusesWhatIsTooLarge) {
  EXPECT_THROW(checked_product({1'000'000, 1'000'000, 1'000'000}, "x"), Error);
  EXPECT_THROW(checked_product({std::int64_t{1} << 62, 4}, "x"), Error);
}

}  // namespace
}  // namespace foretrain
