// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/format.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain {
namespace {

TEST(Format, PrintsAsPrintfDoes) {
  EXPECT_EQ(format("%+.1f %% of %s, %zu", 2.25, "it", std::size_t{3}), "+2.2 % of it, 3");
  EXPECT_EQ(format("nothing"), "nothing");
}

// 2^1000 has 1 + floor(1000 log10 2) = 302 digits: more than most buffers of fixed size hold.
TEST(Format, HasNoLongestText) { EXPECT_EQ(format("%.0f", std::ldexp(1, 1000)).size(), 302U); }

}  // namespace
}  // namespace foretrain
