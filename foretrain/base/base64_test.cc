// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/base64.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

// RFC 4648, section 10.
TEST(Base64, MatchesThePublishedExamples) {
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64(""), "");
  for (const char* text : {"foobar", "fooba", "foob", ""})
    EXPECT_EQ(from_base64(base64(text)), text);
  EXPECT_THROW(from_base64("Zm9"), Error);
  EXPECT_THROW(from_base64("Zm9!"), Error);
  EXPECT_THROW(from_base64("===="), Error);
}

// 1 is 0x3F800000: the bytes 00 00 80 3F.
TEST(Base64, KeepsTheBitsOfFloats) {
  const std::vector<float> numbers{1, -0.1F, 3e38F};
  EXPECT_EQ(base64(std::span(numbers).first(1)), "AACAPw==");
  EXPECT_EQ(floats_from_base64(base64(numbers)), numbers);
  EXPECT_TRUE(floats_from_base64("").empty());
  EXPECT_THROW(floats_from_base64("Zm9v"), Error);  // three bytes
}

}  // namespace
}  // namespace foretrain
