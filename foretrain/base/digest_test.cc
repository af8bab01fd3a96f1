// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/digest.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

// Published test vectors of FNV-1a (Fowler, Noll, Vo): "" and "a".
TEST(Digest, IsFnv1a) {
  EXPECT_EQ(digest_text(digest("")), "cbf29ce484222325");
  EXPECT_EQ(digest_text(digest("a")), "af63dc4c8601ec8c");
}

}  // namespace
}  // namespace foretrain
