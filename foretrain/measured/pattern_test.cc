// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/pattern.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::measured {
namespace {

TEST(Pattern, FindsTheFirstGroupOrAllOfTheMatch) {
  EXPECT_EQ(Pattern("seq=([0-9]+)").find("bert seq=512 tp=4"), "512");
  EXPECT_EQ(Pattern("seq=[0-9]+").find("bert seq=512"), "seq=512");
  EXPECT_EQ(Pattern("(x|y)?seq").find("seq"), "");  // a group that is not part of the match
  EXPECT_EQ(Pattern("^seq").find("bert seq"), std::nullopt);
  EXPECT_TRUE(Pattern("a|ab$").is_in("cab"));
  EXPECT_FALSE(Pattern("a.c").is_in("a\nc"));
}

// 2^40 ways to divide the letters a, of which none ends in b, for an engine that tries them all.
TEST(Pattern, TakesTimeInProportionToTheText) {
  EXPECT_FALSE(Pattern("(a+)+b").is_in(std::string(100'000, 'a')));
  EXPECT_FALSE(Pattern("(x|x)*y").is_in(std::string(100'000, 'x')));
}

TEST(Pattern, RefusesWhatIsNoneOrTooMuch) {
  const std::string deep = std::string(20'000, '(') + std::string(20'000, ')');
  for (const std::string& text : {std::string("("), deep, std::string(2'000, '(') + "a",
                                  std::string("((a{100}){100}){100}"), std::string("(?=a)")}) {
    EXPECT_THROW(Pattern{text}, Error) << text.substr(0, 20);
  }
}

TEST(Pattern, SearchesBytesThatAreNoUtf8) {
  EXPECT_EQ(Pattern("a(.)b").find("a\xff"
                                  "b"),
            "\xff");
}

}  // namespace
}  // namespace foretrain::measured
