// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/catalog_command.h"

#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

TEST(Matches, IgnoresCaseAndFindsParts) {
  EXPECT_TRUE(matches("V100", {"v100-sxm2-16gb"}));
  EXPECT_TRUE(matches("", {"anything"}));
  EXPECT_FALSE(matches("a100", {"v100", "t4"}));
}

Json list_of(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return parse_json(outcome.out);
}

TEST(Catalogs, JsonHasAllEntriesWithNames) {
  for (const char* command : {"models", "devices", "networks", "clouds", "frameworks"}) {
    const Json list = list_of({command, "--json"});
    EXPECT_GT(list.size(), 10U) << command;
    for (const Json& entry : list) EXPECT_FALSE(entry["name"].get<std::string>().empty());
  }
}

TEST(Catalogs, AFilterKeepsWhatContainsIt) {
  const Json list = list_of({"devices", "V100-SXM2", "--json"});
  ASSERT_EQ(list.size(), 2U);  // 16 and 32 GB
  EXPECT_EQ(list[0]["name"], "v100-sxm2-16gb");
  EXPECT_EQ(list[0]["memory_bytes"], 17179869184.0);
  EXPECT_FALSE(list[0]["sources"]["memory_bytes"].get<std::string>().empty());
}

TEST(Catalogs, OneDeviceIsShownWithItsSources) {
  const Outcome outcome = run_program({"devices", "t4"});
  EXPECT_NE(outcome.out.find("memory_bytes_per_s"), std::string::npos);
  EXPECT_NE(outcome.out.find("[1] "), std::string::npos);
}

TEST(Catalogs, TablesFitEightyColumns) {
  for (const char* command : {"models", "devices", "networks", "clouds", "frameworks"}) {
    const Outcome outcome = run_program({command});
    std::size_t column = 0;
    for (const char c : outcome.out) {
      column = c == '\n' ? 0 : column + 1;
      EXPECT_LE(column, 80U) << command;
    }
  }
}

}  // namespace
}  // namespace foretrain::cli
