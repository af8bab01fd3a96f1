// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/json.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "no error";
}

std::string parse_failure(std::string_view text) {
  return message_of([text] { parse_json(text, "file x.json"); });
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ParseJson, BuildsTheValue) {
  const Json value =
      parse_json(R"( {"a": [1, -2, 2.5, "x\u00e9", true, null, {}], "b": {"c": []}} )", "x");
  const Json expected = {{"a", {1, -2, 2.5, "x\xc3\xa9", true, nullptr, Json::object()}},
                         {"b", {{"c", Json::array()}}}};
  EXPECT_EQ(value, expected);
  EXPECT_TRUE(value["a"][0].is_number_unsigned());
  EXPECT_TRUE(value["a"][2].is_number_float());
}

TEST(ParseJson, AgreesWithTheParserOfTheLibrary) {
  for (const char* text : {"1", "\"\"", "[]", "[[1],[2,[3]],{}]",
                           R"({"a":{"b":{"c":[{"d":1},{"d":2}]}},"e":0.1})", "18446744073709551615",
                           "-9223372036854775808", "1e-400", "123456789012345678901234567890"}) {
    EXPECT_EQ(parse_json(text, "x"), Json::parse(text)) << text;
  }
}

TEST(ParseJson, ErrorNamesPlaceAndReason) {
  EXPECT_EQ(parse_failure("{\n  \"a\": nan}").substr(0, 48),
            "file x.json: line 2, column 9: not valid JSON: s");
  EXPECT_TRUE(contains(parse_failure("{\"a\" 1}"), "line 1, column 6: not valid JSON"));
}

TEST(ParseJson, RejectsKeysGivenTwice) {
  EXPECT_EQ(parse_failure("{\"a\": 1,\n \"a\": 2}"),
            "file x.json: line 2, column 4: the key 'a' is given twice");
  EXPECT_EQ(parse_failure(R"([{"a": {"b\n": 1, "b\n": 1}}])"),
            "file x.json: line 1, column 23: the key 'b\\n' is given twice");
  EXPECT_NO_THROW(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "x"));
}

TEST(ParseJson, RejectsDeepNestingWithoutRecursion) {
  EXPECT_NO_THROW(parse_json(nested(64), "x"));
  EXPECT_EQ(parse_failure(nested(65)),
            "file x.json: line 1, column 65: nested deeper than 64 levels");
  EXPECT_TRUE(contains(parse_failure(std::string(1'000'000, '[')), "nested deeper"));
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += R"({"a":)";
  EXPECT_TRUE(contains(parse_failure(objects), "nested deeper"));
}

TEST(ParseJson, RejectsWhatIsNotANumber) {
  for (const char* text : {"NaN", "nan", "Infinity", "-Infinity", "[1e999]", "-1e999", "01", "+1",
                           ".5", "1.", "0x10", "1e"}) {
    EXPECT_TRUE(contains(parse_failure(text), "not valid JSON: ")) << text;
  }
  EXPECT_EQ(parse_failure("1e999"),
            "file x.json: line 1, column 5: not valid JSON: number overflow parsing '1e999'");
}

TEST(ParseJson, RejectsMalformedText) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "[1] 2", "{} {}", "'a'", "\"a",
                           "tru", "{a: 1}", "/* */ 1", "\"\t\"", "\"\\x\"", "\"\\ud800\""}) {
    EXPECT_TRUE(contains(parse_failure(text), "not valid JSON: ")) << text;
  }
}

TEST(ParseJson, RejectsTextThatIsNotUtf8) {
  for (const char* text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
                           "\"\xc3\"", "\xff"}) {
    EXPECT_TRUE(contains(parse_failure(text), "not valid JSON: ")) << text;
  }
}

TEST(ParseJson, RejectsNulBytes) {
  EXPECT_EQ(parse_failure(std::string_view("{}\n\0garbage", 11)),
            "file x.json: line 2, column 1: not valid JSON: a NUL byte");
}

TEST(ParseJson, MessageIsOneShortLineOfUtf8) {
  const std::string message =
      message_of([] { parse_json("[\"\x01" + std::string(100'000, '\xff'), "file a\nb.json"); });
  EXPECT_LT(message.size(), 1000u);
  EXPECT_FALSE(contains(message, "\n"));
  EXPECT_NO_THROW(Json(message).dump());  // throws for invalid UTF-8
  const std::string long_token = parse_failure("[\"" + std::string(100'000, 'x') + "\xff");
  EXPECT_LT(long_token.size(), 1000u);
}

TEST(JsonFields, ReadsEachType) {
  const Json object =
      parse_json(R"({"n": 1.5, "i": 3, "w": 3.0, "t": "x", "b": true, "z": null})", "x");
  JsonFields fields(object, "request");
  EXPECT_EQ(fields.number("n"), 1.5);
  EXPECT_EQ(fields.number("i"), 3.0);
  EXPECT_EQ(fields.integer("i"), 3);
  EXPECT_EQ(fields.integer("w"), 3);
  EXPECT_EQ(fields.text("t"), "x");
  EXPECT_EQ(fields.boolean("b"), true);
  EXPECT_EQ(fields.required_number("n"), 1.5);
  EXPECT_EQ(fields.required_text("t"), "x");
  EXPECT_EQ(fields.require("i"), 3);
  EXPECT_EQ(fields.where(), "request");
  fields.ignore("z");
  EXPECT_NO_THROW(fields.finish());
}

TEST(JsonFields, AbsentAndNullAreTheSame) {
  const Json object = {{"z", nullptr}};
  JsonFields fields(object, "request");
  for (const char* key : {"z", "absent"}) {
    EXPECT_FALSE(fields.has(key));
    EXPECT_EQ(fields.find(key), nullptr);
    EXPECT_EQ(fields.number(key), std::nullopt);
    EXPECT_EQ(fields.integer(key), std::nullopt);
    EXPECT_EQ(fields.text(key), std::nullopt);
    EXPECT_EQ(fields.boolean(key), std::nullopt);
  }
  EXPECT_EQ(message_of([&] { fields.require("z"); }), "request: the field 'z' is missing");
  EXPECT_EQ(message_of([&] { fields.required_text("y"); }), "request: the field 'y' is missing");
  EXPECT_EQ(message_of([&] { fields.required_number("y"); }), "request: the field 'y' is missing");
}

TEST(JsonFields, WrongTypeNamesTheField) {
  const Json object = {{"a", "x"}, {"b", 1}};
  JsonFields fields(object, "request");
  EXPECT_EQ(message_of([&] { fields.number("a"); }),
            "request: the field 'a' must be a number, not string");
  EXPECT_EQ(message_of([&] { fields.integer("a"); }),
            "request: the field 'a' must be a whole number, not string");
  EXPECT_EQ(message_of([&] { fields.text("b"); }),
            "request: the field 'b' must be a string, not number");
  EXPECT_EQ(message_of([&] { fields.boolean("b"); }),
            "request: the field 'b' must be true or false, not number");
  EXPECT_EQ(message_of([] {
              const Json array = Json::array();
              JsonFields(array, "request");
            }),
            "request: expected a JSON object, not array");
}

TEST(JsonFields, IntegersAreWholeAndFit) {
  const Json object = {{"half", 3.5},
                       {"big", std::numeric_limits<std::uint64_t>::max()},
                       {"edge", 9223372036854775808.0},
                       {"most", std::numeric_limits<std::int64_t>::max()},
                       {"least", -9223372036854775808.0},
                       {"nan", std::numeric_limits<double>::quiet_NaN()}};
  JsonFields fields(object, "request");
  EXPECT_EQ(message_of([&] { fields.integer("half"); }),
            "request: the field 'half' must be a whole number, not 3.5");
  for (const char* key : {"big", "edge", "nan"}) {
    EXPECT_TRUE(contains(message_of([&] { fields.integer(key); }), "must be a whole number"))
        << key;
  }
  EXPECT_EQ(fields.integer("most"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(fields.integer("least"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(message_of([&] { fields.number("nan"); }),
            "request: the field 'nan' must be a finite number");
}

TEST(JsonFields, FinishListsNearMatchesOfAnUnknownField) {
  const Json object = {{"batch_size", 3}};
  JsonFields fields(object, "request 2");
  fields.integer("batch");
  fields.integer("workers");
  EXPECT_EQ(message_of([&] { fields.finish(); }),
            "request 2: unknown field 'batch_size'; did you mean 'batch'?");
}

TEST(JsonText, IsOneLineAndReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json_text(Json{{"b", 1}, {"a", "\xff"}}), "{\"a\":\"\xef\xbf\xbd\",\"b\":1}");
  EXPECT_EQ(json_text(ordered_json(R"({"b": 1, "a": [2]})")), R"({"b":1,"a":[2]})");
  EXPECT_EQ(json_text(Json::array({1}), 1), "[\n 1\n]");
}

TEST(JsonFields, ListsHaveTheirTypeAndABound) {
  const Json object{
      {"words", {"a", "b"}}, {"numbers", {1, 2}}, {"text", "a"}, {"long", Json::array()}};
  JsonFields fields(object, "here");
  EXPECT_EQ(fields.required_texts("words"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fields.required_list("numbers").size(), 2U);
  EXPECT_THROW(fields.required_texts("numbers"), Error);
  EXPECT_THROW(fields.required_list("text"), Error);
  EXPECT_THROW(fields.required_list("missing"), Error);
  const Json many{{"long", Json(std::vector<int>(JsonFields::kMostEntries + 1, 0))}};
  EXPECT_THROW(JsonFields(many, "here").required_list("long"), Error);
}

}  // namespace
}  // namespace foretrain
