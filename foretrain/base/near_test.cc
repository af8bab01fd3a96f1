// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/near.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

using Names = std::vector<std::string>;

const Names kDevices{"v100-sxm2-16gb", "a100-sxm4-40gb", "a100-sxm4-80gb", "t4", "rtx-3090"};

// One substitution; two; an insertion and a substitution, listed in the order given.
TEST(NearMatches, OrdersByEditDistance) {
  EXPECT_EQ(near_matches("resnet51", {"resnet18", "resnet152", "resnet50"}),
            (Names{"resnet50", "resnet18", "resnet152"}));
}

TEST(NearMatches, SwappedLettersAreOneEdit) {
  // As two substitutions "sdg" would lie beyond the one edit that three letters allow.
  EXPECT_EQ(near_matches("sdg", {"adam", "sgd"}), Names{"sgd"});
}

TEST(NearMatches, NameContainedInAKnownNameIsNear) {
  EXPECT_EQ(near_matches("a100", kDevices), (Names{"a100-sxm4-40gb", "a100-sxm4-80gb"}));
  EXPECT_EQ(near_matches("3090", kDevices), Names{"rtx-3090"});
}

TEST(NearMatches, KnownNameThatBeginsTheNameIsNear) {
  EXPECT_EQ(near_matches("batch_size", {"workers", "batch"}), Names{"batch"});
}

TEST(NearMatches, IgnoresCaseAndTheKindOfDash) {
  EXPECT_EQ(near_matches("V100_SXM2_16GB", kDevices), Names{"v100-sxm2-16gb"});
}

TEST(NearMatches, ListsNothingFarOff) {
  EXPECT_TRUE(near_matches("banana", kDevices).empty());
  EXPECT_TRUE(near_matches("", kDevices).empty());
  EXPECT_TRUE(near_matches("x", {"y", "z"}).empty());
  EXPECT_TRUE(near_matches(std::string(1'000'000, 'a'), kDevices).empty());
}

TEST(NearMatches, ListsAtMostWhatWasAskedAndNothingTwice) {
  EXPECT_EQ(near_matches("aa", {"aab", "aac", "aad", "aae"}).size(), 3u);
  EXPECT_EQ(near_matches("aa", {"aab", "aac"}, 1), Names{"aab"});
  EXPECT_EQ(near_matches("aa", {"aab", "aab"}), Names{"aab"});
}

TEST(DidYouMean, ReadsAsASentence) {
  EXPECT_EQ(did_you_mean("banana", {"adam"}), "");
  EXPECT_EQ(did_you_mean("adm", {"adam"}), "; did you mean 'adam'?");
  EXPECT_EQ(did_you_mean("a1", {"a10", "a16"}), "; did you mean 'a10' or 'a16'?");
  EXPECT_EQ(did_you_mean("a1", {"a10", "a16", "a17"}), "; did you mean 'a10', 'a16' or 'a17'?");
}

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("gr\xc3\xb6\xc3\x9f"
                      "e 'x'"),
            "gr\xc3\xb6\xc3\x9f"
            "e 'x'");
  EXPECT_EQ(printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");  // U+1F600
}

TEST(Printable, EscapesWhatWouldBreakTheLine) {
  EXPECT_EQ(printable("a\nb\r\t\x1b[0m\x7f"), "a\\nb\\r\\t\\x1b[0m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x85"), "\\u0085");      // next line
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\u2028");  // line separator
  EXPECT_EQ(printable("\xef\xbf\xbf"), "\\uffff");  // no character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");  // right to left
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // '/' in two bytes
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");  // '/' in three
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc...");
  EXPECT_EQ(printable("\xc3\xb6\xc3\xb6", 1), "\xc3\xb6...");
}

}  // namespace
}  // namespace foretrain
