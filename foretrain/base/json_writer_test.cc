// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "foretrain/base/json.h"

namespace foretrain {
namespace {

TEST(JsonWriter, WritesObjectsArraysAndSeparators) {
  JsonWriter writer;
  writer.begin_object().field("a", 1.5).key("b").begin_array().value(2.0).value(true).null();
  writer.end_array().key("c").begin_object().end_object().field("d", "x").end_object();
  EXPECT_EQ(writer.finish(), R"({"a":1.5,"b":[2,true,null],"c":{},"d":"x"})");
}

TEST(JsonWriter, EscapesWhatJsonForbids) {
  JsonWriter writer;
  writer.value("a\"b\\c\n\x01");
  EXPECT_EQ(parse_json(writer.finish(), "test").get<std::string>(), "a\"b\\c\n\x01");
}

// A byte that begins no character, one of two that is cut off, a surrogate; what is UTF-8 stays.
TEST(JsonWriter, ReplacesWhatIsNoUtf8) {
  JsonWriter writer;
  writer.value(
      "a\xff\xc3"
      "b\xed\xa0\x80 \xc3\xb6");
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(parse_json(writer.finish(), "test").get<std::string>(),
            "a" + mark + mark + "b" + mark + mark + mark + " \xc3\xb6");
}

TEST(JsonWriter, WhatIsNotFiniteOrAbsentIsNull) {
  JsonWriter writer;
  writer.begin_array().value(std::numeric_limits<double>::quiet_NaN());
  writer.value(std::numeric_limits<double>::infinity()).value(std::optional<double>{}).end_array();
  EXPECT_EQ(writer.finish(), "[null,null,null]");
}

TEST(JsonWriter, NumbersReadBackExactly) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    const double number =
        std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 100);
    JsonWriter writer;
    writer.begin_array().value(number).end_array();
    EXPECT_EQ(parse_json(writer.finish(), "test")[0].get<double>(), number);
  }
}

}  // namespace
}  // namespace foretrain
