// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/dim.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::graph {
namespace {

const std::vector<std::string> kSymbols{"batch", "seq"};

Dim parse(const std::string& text) { return parse_dim(text, kSymbols); }

TEST(Dim, MultipliesFactorsAndAddsPowers) {
  const Dim product = parse("2*batch") * parse("3*batch*seq");
  EXPECT_EQ(product.factor, 6);
  EXPECT_EQ(product.power[0], 2);
  EXPECT_EQ(product.power[1], 1);
  EXPECT_EQ(parse("batch") * Dim(7), Dim(7) * parse("batch"));
  EXPECT_EQ(parse("batch") * Dim(1), parse("batch"));
}

TEST(Dim, HoldsUpTo2To48) {
  const Dim largest(std::int64_t{1} << 48);
  EXPECT_EQ(Dim(std::int64_t{1} << 47) * Dim(2), largest);
  EXPECT_THROW(largest * Dim(2), Error);
  EXPECT_THROW(Dim(std::int64_t{1} << 40) * Dim(std::int64_t{1} << 40), Error);  // 2^80 overflows
}

TEST(Dim, HoldsUpToTheEighthPower) {
  Dim dim(1);
  for (int i = 0; i < 8; ++i) dim = dim * symbol(0);
  EXPECT_EQ(dim.power[0], 8);
  EXPECT_THROW(dim * symbol(0), Error);
}

TEST(Dim, DividesOnlyWhereItDoesForEveryValueOfTheSymbols) {
  Dim quotient;
  ASSERT_TRUE(divides(parse("2*batch"), parse("12*batch*seq"), quotient));
  EXPECT_EQ(quotient, parse("6*seq"));
  EXPECT_FALSE(divides(Dim(5), Dim(12), quotient));
  EXPECT_FALSE(divides(parse("seq"), parse("12*batch"), quotient));
  EXPECT_FALSE(divides(Dim(0), Dim(12), quotient));
}

TEST(Dim, IsReadAsItIsWritten) {
  for (const char* text : {"1", "64", "batch", "2*batch*seq", "batch*batch", "-1", "0"}) {
    EXPECT_EQ(to_string(parse(text), kSymbols), text);
  }
  EXPECT_EQ(parse("seq*3*batch*2"), parse("6*batch*seq"));
}

TEST(Dim, IsNothingButAProduct) {
  for (const char* text :
       {"", "*", "2*", "*batch", "batch+1", "bach", "2 * batch", "1.5", "1e3",
        "99999999999999999999", "batch*batch*batch*batch*batch*batch*batch*batch*batch"}) {
    EXPECT_THROW(parse(text), Error) << text;
  }
}

TEST(Shape, HasUpToEightDimensions) {
  Shape shape;
  EXPECT_EQ(elements(shape), Dim(1));  // a scalar
  for (int i = 0; i < kMaxRank; ++i) shape.push_back(Dim(2));
  EXPECT_EQ(elements(shape), Dim(256));  // 2^8
  EXPECT_THROW(shape.push_back(Dim(1)), Error);
}

TEST(Shape, EqualsAShapeOfTheSameDimensionsOnly) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3} == Shape{3, 2}));
  EXPECT_FALSE((Shape{2, 3} == Shape{2, 3, 1}));
  EXPECT_FALSE((Shape{Dim(2)} == Shape{parse("2*batch")}));
  EXPECT_EQ(to_string(Shape{parse("2*batch"), 3}, kSymbols), "[2*batch, 3]");
  EXPECT_EQ(to_string(Shape{}, kSymbols), "[]");
}

}  // namespace
}  // namespace foretrain::graph
