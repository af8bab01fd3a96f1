// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/json_peek.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

TEST(PeekText, FindsAFieldOfTheOutermostObject) {
  EXPECT_EQ(peek_text(R"({"a": [1, {"format": "inner"}], "format": "outer"})", "format"), "outer");
  EXPECT_EQ(peek_text(R"({"a": {"format": "inner"}})", "format"), std::nullopt);
  EXPECT_EQ(peek_text(R"([{"format": "inner"}])", "format"), std::nullopt);
}

TEST(PeekText, ReadsNoFurther) {
  EXPECT_EQ(peek_text(R"({"format": "first", and no JSON)", "format"), "first");
}

TEST(PeekText, HasNothingWhereThereIsNoText) {
  EXPECT_EQ(peek_text(R"({"format": 3, "format": "second"})", "format"), std::nullopt);
  EXPECT_EQ(peek_text(R"({"format": {"format": "inner"}})", "format"), std::nullopt);
  EXPECT_EQ(peek_text(R"({"form)", "format"), std::nullopt);
  EXPECT_EQ(peek_text("", "format"), std::nullopt);
}

}  // namespace
}  // namespace foretrain
