// SPDX-License-Identifier: Apache-2.0
// What docs/onnx.md says holds.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

std::string page() {
  const std::ifstream file("docs/onnx.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The words of the lines below `heading`, up to an empty line.
std::set<std::string> listed(const std::string& heading) {
  const std::string text = page();
  const std::size_t begin = text.find(heading);
  if (begin == std::string::npos) return {};
  const std::size_t end = text.find("\n\n", begin);
  std::istringstream words(text.substr(begin + heading.size(), end - begin - heading.size()));
  return {std::istream_iterator<std::string>(words), {}};
}

std::set<std::string> ruled(const char* domain) {
  const std::vector<std::string> names = ruled_operators(domain);
  return {names.begin(), names.end()};
}

TEST(OnnxPage, ListsEveryOperator) {
  EXPECT_EQ(listed("Of ONNX itself:\n"), ruled(""));
  EXPECT_EQ(listed("Of `com.microsoft`:\n"), ruled("com.microsoft"));
}

}  // namespace
}  // namespace foretrain::importer
