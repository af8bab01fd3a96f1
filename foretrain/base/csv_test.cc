// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/csv.h"

#include <gtest/gtest.h>

#include <sstream>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

using Record = std::vector<std::string>;

std::vector<Record> read(const std::string& text) {
  std::istringstream in(text);
  CsvReader reader(in, "file x.csv");
  std::vector<Record> records;
  for (Record record; reader.next(record);) records.push_back(record);
  return records;
}

std::string complaint(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "";
}

TEST(Csv, ReadsRecordsWithEitherLineBreakAndWithoutALastOne) {
  const std::vector<Record> expected{{"a", "b"}, {"1", ""}, {"", "2"}};
  EXPECT_EQ(read("a,b\n1,\n,2\n"), expected);
  EXPECT_EQ(read("a,b\r\n1,\r\n,2\r\n"), expected);
  EXPECT_EQ(read("a,b\n1,\n,2"), expected);
  EXPECT_EQ(read("a,b\r\n1,\r\n,2\r"), expected);
}

TEST(Csv, ReadsQuotedSeparatorsQuotesAndLineBreaks) {
  EXPECT_EQ(read("\"a,b\",\"say \"\"hi\"\"\",\"two\r\nlines\",\"\"\n"),
            (std::vector<Record>{{"a,b", "say \"hi\"", "two\r\nlines", ""}}));
}

TEST(Csv, SkipsAByteOrderMarkAndEmptyLinesButNotAnEmptyQuotedField) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a\n\n\r\n\"\"\nb\n"),
            (std::vector<Record>{{"a"}, {""}, {"b"}}));
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("\n\n").empty());
}

TEST(Csv, CountsLinesInsideQuotes) {
  std::istringstream in("a\n\"1\n2\n3\"\nb\n");
  CsvReader reader(in, "x");
  Record record;
  std::vector<std::size_t> lines;
  while (reader.next(record)) lines.push_back(reader.line());
  EXPECT_EQ(lines, (std::vector<std::size_t>{1, 2, 5}));
}

TEST(Csv, ReadsAcrossTheEdgesOfItsBuffer) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "\"ab\"\"c\",de\r\n";
  const std::vector<Record> records = read(text);
  ASSERT_EQ(records.size(), 20000U);
  for (const Record& record : records) ASSERT_EQ(record, (Record{"ab\"c", "de"}));
}

TEST(Csv, NamesTheLineOfWhatIsMalformed) {
  EXPECT_EQ(complaint("a\nb,\"c\nd\n"),
            "file x.csv, line 2: the quote that opens here is never closed");
  EXPECT_EQ(complaint("a\nb\"c\n"),
            "file x.csv, line 2: a quote inside a field; write it twice and quote the field");
  EXPECT_EQ(complaint("a\n\"b\"c\n"),
            "file x.csv, line 2: text after the closing quote of a field");
  EXPECT_EQ(complaint(std::string("a\nb\0c\n", 6)),
            "file x.csv, line 2: a NUL byte; this is no text file");
  EXPECT_EQ(complaint("a\n" + std::string(2'000'000, 'x')),
            "file x.csv, line 2: a field of more than 1 MiB; is a quote left open?");
  EXPECT_EQ(complaint(std::string(5000, ',')), "file x.csv, line 1: more than 4096 fields");
}

TEST(CsvField, IsReadBackAsItWas) {
  for (const char* text : {"plain", "", "a,b", "a\"b", "two\nlines", "\r"}) {
    EXPECT_EQ(read("x," + csv_field(text) + "\n"), (std::vector<Record>{{"x", text}}));
  }
}

TEST(CsvLine, QuotesTextAndKeepsNumbersExact) {
  EXPECT_EQ(csv_line("a,b", 0.1, 3, std::string("c"), 1e300, 2.0), "\"a,b\",0.1,3,c,1e+300,2\n");
}

}  // namespace
}  // namespace foretrain
