// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/step_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/base/error.h"

namespace foretrain::measured {
namespace {

TEST(StepTable, NamesTheLineOfAMistake) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "foretrain_steps.jsonl";
  const auto problem = [&path](const std::string& text) -> std::string {
    std::ofstream(path) << text;
    try {
      Table table = step_table(path);
      int rows = 0;
      for (Row row; table.next(row);) ++rows;
      return std::to_string(rows);
    } catch (const Error& error) {
      return error.what();
    }
  };
  const std::string fine = R"({"request": {"model": "mlp", "device": "t4"}, "step_time_s": 0.1})";
  EXPECT_EQ(problem(fine + "\n\n" + fine + "\n"), "2");
  EXPECT_NE(problem(fine + "\n{\n").find("line 2"), std::string::npos);
  EXPECT_NE(problem(R"({"request": {"model": "mlp"}, "step_time_s": -1})").find("not above 0"),
            std::string::npos);
  EXPECT_NE(problem(fine.substr(0, fine.size() - 1) + R"(, "exposed_communication_s": 0.2})")
                .find("not between 0 and"),
            std::string::npos);
  EXPECT_NE(problem(fine.substr(0, fine.size() - 1) + R"(, "steps": 0})").find("below 1"),
            std::string::npos);
  EXPECT_NE(problem("\n").find("no measured step"), std::string::npos);
  std::filesystem::remove(path);
}

// The same request is a repeat, whatever the order of its fields.
TEST(StepTable, HasTheStoresColumns) {
  Table table = parse_steps(
      R"({"request": {"model": "mlp", "device": "t4"}, "step_time_s": 0.25, "steps": 3})"
      "\n\n"
      R"({"request": {"device": "t4", "model": "mlp"}, "step_time_s": 0.5, "started": "now"})",
      "mine.jsonl", "here");
  EXPECT_EQ(table.name(), "mine");
  Row row;
  ASSERT_TRUE(table.next(row));
  EXPECT_EQ(cell(row, "campaign"), "mine.jsonl");
  EXPECT_EQ(cell(row, "machine"), "t4");
  EXPECT_EQ(cell(row, "request"), R"({"device":"t4","model":"mlp"})");
  EXPECT_EQ(cell(row, "configuration"), cell(row, "request"));
  EXPECT_EQ(cell(row, "step_median_s"), "0.25");
  EXPECT_EQ(cell(row, "steps"), "3");
  EXPECT_EQ(cell(row, "repeat"), "0");
  ASSERT_TRUE(table.next(row));
  EXPECT_EQ(row.line, 3U);
  EXPECT_EQ(cell(row, "started"), "now");
  EXPECT_EQ(cell(row, "repeat"), "1");
  EXPECT_FALSE(table.next(row));
}

}  // namespace
}  // namespace foretrain::measured
