// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/number_file.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

const char* const kText = R"({"format": "numbers", "version": 1, "notes": ["by hand"],
  "a": {"x": {"value": 2.5, "source": "a datasheet"}, "y": 3}, "b": {"x": 0}, "links": []})";
constexpr std::string_view kLinks = "links";

TEST(NumberFile, GivesEveryPlaceItsNumber) {
  const auto numbers = read_number_file(kText, "file", "numbers", std::span(&kLinks, 1));
  ASSERT_EQ(numbers.size(), 3u);
  EXPECT_EQ(numbers[0].source, "a datasheet");
  double ax = 0;
  double ay = 0;
  double bx = 1;
  const std::vector<NumberPlace> places{{"a", "x", &ax}, {"a", "y", &ay}, {"b", "x", &bx}};
  assign_numbers(numbers, places, "file");
  EXPECT_EQ(ax, 2.5);
  EXPECT_EQ(ay, 3);
  EXPECT_EQ(bx, 0);
}

std::string problem(std::string old, const std::string& now) {
  std::string text = kText;
  text.replace(text.find(old), old.size(), now);
  try {
    const auto numbers = read_number_file(text, "file", "numbers", std::span(&kLinks, 1));
    double value = 0;
    const std::vector<NumberPlace> places{
        {"a", "x", &value}, {"a", "y", &value}, {"b", "x", &value}};
    assign_numbers(numbers, places, "file");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "none";
}

TEST(NumberFile, SaysWhatIsWrong) {
  EXPECT_EQ(problem("2.5", "2.25"), "none");
  EXPECT_NE(problem("\"numbers\"", "\"letters\"").find("format numbers"), std::string::npos);
  EXPECT_NE(problem("\"version\": 1", "\"version\": 2").find("version 1"), std::string::npos);
  EXPECT_NE(problem("\"y\": 3", "\"y\": -3").find("a.y is not a number from 0"), std::string::npos);
  EXPECT_NE(problem("\"y\": 3", "\"y\": \"3\"").find("a.y is neither"), std::string::npos);
  EXPECT_NE(problem("\"y\": 3", "\"z\": 3").find("a.y is missing"), std::string::npos);
  EXPECT_NE(problem("\"y\": 3", "\"y\": 3, \"yy\": 3").find("unknown number 'a.yy'"),
            std::string::npos);
  EXPECT_NE(problem("\"links\": []", "\"more\": []").find("'more' is not a group"),
            std::string::npos);
  EXPECT_NE(problem(", \"source\": \"a datasheet\"", "").find("source"), std::string::npos);
}

TEST(NumberFile, IsReadAsItWasWritten) {
  double x = 0.1;
  const std::vector<NumberPlace> places{{"a", "x", &x}};
  const std::string note = "by hand";
  const std::string text = write_number_file("numbers", places, std::span(&note, 1));
  const auto numbers = read_number_file(text, "file", "numbers");
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0].value, 0.1);
}

}  // namespace
}  // namespace foretrain
