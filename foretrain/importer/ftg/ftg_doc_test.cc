// SPDX-License-Identifier: Apache-2.0
// What docs/ftg.md says holds.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "foretrain/graph/op.h"
#include "foretrain/importer/ftg.h"

namespace foretrain::importer {
namespace {

std::string page() {
  const std::ifstream file("docs/ftg.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// 784*256 + 256 + 256*10 learned values.
TEST(FtgPage, ShowsAFileThatCanBeRead) {
  const std::string text = page();
  const std::size_t begin = text.find("```json\n") + 8;
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  const graph::Graph graph = read_ftg(example, "docs/ftg.md");
  EXPECT_EQ(graph::parameter_count(graph), 203520);
}

TEST(FtgPage, NamesOperatorsThatExist) {
  const std::string text = page();
  const std::size_t begin = text.find("| operator |");
  std::istringstream table(text.substr(begin, text.find("\n\n", begin) - begin));
  std::string line;
  int operators = 0;
  for (int row = 0; std::getline(table, line); ++row) {
    if (row < 2) continue;  // the heading and its rule
    const std::string cell = line.substr(0, line.find('|', 1));
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
      const std::size_t end = cell.find('`', at + 1);
      const std::string name = cell.substr(at + 1, end - at - 1);
      EXPECT_TRUE(graph::kind_named(name)) << name;
      ++operators;
      at = end + 1;
    }
  }
  EXPECT_GT(operators, 40);
}

}  // namespace
}  // namespace foretrain::importer
