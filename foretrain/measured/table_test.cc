// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/table.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/measured/test_files.h"

namespace foretrain::measured {
namespace {

std::string complaint(const std::string& text) {
  const TestFolder folder;
  try {
    Table file(folder.write("x.csv", text));
    for (Row row; file.next(row);) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "";
}

TEST(Table, GivesRowsByColumn) {
  const TestFolder folder;
  Table file(folder.write("x.csv", measurement("resnet50", "T4", "step_time", "0.25")));
  EXPECT_EQ(file.missing_columns(), "");
  Row row;
  ASSERT_TRUE(file.next(row));
  EXPECT_EQ(cell(row, "model"), "resnet50");
  EXPECT_EQ(cell(row, "value"), "0.25");
  EXPECT_EQ(cell(row, "nothing"), "");
  EXPECT_EQ(row.line, 2U);
  EXPECT_FALSE(file.next(row));
}

TEST(Table, TellsAnotherKindOfFile) {
  const TestFolder folder;
  EXPECT_EQ(Table(folder.write("x.csv", "op,latency_ms\nconv,1\n")).missing_columns(),
            "source, framework, model and 14 more");
  EXPECT_NE(Table(folder.write("y.csv", "")).missing_columns(), "");
}

TEST(Table, NamesTheLineThatIsCutOff) {
  EXPECT_EQ(
      complaint("a,b,c\n1,2,3\n4,5\n"),
      "file x.csv, line 3: 2 fields where the first line has 3; is the line cut off or a quote "
      "missing?");
  EXPECT_EQ(complaint("a,b,a\n"), "file x.csv, line 1: column 'a' is there twice");
}

TEST(Table, SaysWhichFileCannotBeRead) { EXPECT_THROW(Table("no/such/file.csv"), Error); }

}  // namespace
}  // namespace foretrain::measured
