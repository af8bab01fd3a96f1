// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/request_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/split.h"
#include "foretrain/request/request.h"

namespace foretrain::cli {
namespace {

TEST(Split, LeavesBracketsAndQuotesWhole) {
  EXPECT_EQ(split("a,b", ','), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split("[1,2],[3]", ','), (std::vector<std::string>{"[1,2]", "[3]"}));
  EXPECT_EQ(split(R"({"a":"x,y"},z)", ','), (std::vector<std::string>{R"({"a":"x,y"})", "z"}));
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
}

Json request_of(const std::vector<std::string>& arguments) {
  CLI::App app;
  RequestOptions options;
  Command command(app);
  options.add_to(command);
  std::vector<std::string> words = join_booleans(arguments);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return parse_json(options.json());
}

TEST(RequestOptions, NothingGivenIsAnEmptyObject) { EXPECT_EQ(request_of({}), Json::object()); }

TEST(RequestOptions, ModelIsPositionalOrNamed) {
  EXPECT_EQ(request_of({"resnet50"}), Json({{"model", "resnet50"}}));
  EXPECT_EQ(request_of({"--model", "resnet50"}), Json({{"model", "resnet50"}}));
}

TEST(RequestOptions, ValuesHaveTheTypeOfTheirField) {
  const Json request = request_of({"--batch", "32", "--epochs", "1.5", "--samples", "1e6",
                                   "--device", "t4", "--host-speed", "-2"});
  EXPECT_TRUE(request["batch"].is_number_integer());
  EXPECT_EQ(request["epochs"], 1.5);
  EXPECT_EQ(request["samples"], 1e6);
  EXPECT_EQ(request["device"], "t4");
  EXPECT_EQ(request["host_speed"], -2);  // the reader refuses it, with its own message
}

TEST(RequestOptions, ListsHaveCommasOrBrackets) {
  const Json expected = {3, 3, 4};
  EXPECT_EQ(request_of({"--placement", "3,3,4"})["placement"], expected);
  EXPECT_EQ(request_of({"--placement", "[3, 3, 4]"})["placement"], expected);
}

TEST(RequestOptions, ObjectsAreJson) {
  EXPECT_EQ(request_of({"--network", R"({"bytes_per_s": 1e9})"})["network"]["bytes_per_s"], 1e9);
}

TEST(RequestOptions, StrategyHasThreeForms) {
  const Json expected = {{"kind", "ps"}, {"servers", 2}, {"asynchronous", true}};
  EXPECT_EQ(request_of({"--strategy", "ps:servers=2,asynchronous=true"})["strategy"], expected);
  EXPECT_EQ(
      request_of({"--strategy", R"({"kind":"ps","servers":2,"asynchronous":true})"})["strategy"],
      expected);
  EXPECT_EQ(request_of({"--servers", "2", "--strategy", "ps", "--asynchronous"})["strategy"],
            expected);
}

TEST(RequestOptions, BooleansStandAloneOrHaveAValue) {
  const auto asynchronous = [](const std::vector<std::string>& arguments) {
    const Json request = request_of(arguments);
    EXPECT_EQ(request["model"], "resnet50");
    return request["strategy"]["asynchronous"];
  };
  EXPECT_EQ(asynchronous({"resnet50", "--asynchronous"}), true);
  EXPECT_EQ(asynchronous({"--asynchronous", "resnet50"}), true);
  EXPECT_EQ(asynchronous({"--asynchronous", "true", "resnet50"}), true);
  EXPECT_EQ(asynchronous({"resnet50", "--asynchronous", "false"}), false);
  EXPECT_EQ(asynchronous({"resnet50", "--asynchronous=false"}), false);
  EXPECT_EQ(request_of({"--autotune", "false"})["autotune"], false);
  const std::vector<std::string> command{"profile", "--", "train", "--autotune", "true"};
  EXPECT_EQ(join_booleans(command), command);
}

// The options are the table's fields and no others.
TEST(RequestOptions, AreTheFieldsOfTheTable) {
  CLI::App app;
  RequestOptions options;
  Command command(app);
  options.add_to(command);
  app.set_help_flag();
  std::vector<std::string> expected;
  for (const auto fields : {request_fields(), strategy_fields()}) {
    for (const RequestField& field : fields) {
      if (field.name == "kind") continue;  // --strategy says it
      std::string name(field.name);
      std::replace(name.begin(), name.end(), '_', '-');
      EXPECT_NE(app.help().find("--" + name + " "), std::string::npos) << name;
      expected.push_back(name);
    }
  }
  std::vector<std::string> offered;
  for (const CLI::Option* option : app.get_options()) offered.push_back(option->get_lnames().at(0));
  std::sort(expected.begin(), expected.end());
  std::sort(offered.begin(), offered.end());
  EXPECT_EQ(offered, expected);
}

std::string message_of(const std::vector<std::string>& arguments) {
  try {
    request_of(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "";
}

TEST(RequestOptions, RefusesWhatAFieldCannotHold) {
  for (const char* value : {"nan", "inf", "-inf", "1e999", "abc", "12abc", "0x10"}) {
    EXPECT_NE(message_of({"--batch", value}).find("--batch"), std::string::npos) << value;
  }
  EXPECT_NE(message_of({"--device", "{"}), "");
  EXPECT_NE(message_of({"--strategy", "ps:servers"}), "");
}

TEST(RequestOptions, ReadsAValueAsItsFieldHoldsIt) {
  CLI::App app;
  RequestOptions options;
  Command command(app);
  options.add_to(command);
  EXPECT_EQ(options.value_json("batch", "64"), "64");
  EXPECT_EQ(options.value_json("device", "64"), "\"64\"");
  EXPECT_EQ(options.value_json("strategy.servers", "3"), "3");
  EXPECT_THROW(options.value_json("batch", "x"), Error);
}

}  // namespace
}  // namespace foretrain::cli
