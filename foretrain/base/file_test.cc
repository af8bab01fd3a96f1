// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

std::string problem(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  try {
    read_file(file, most_bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(ReadFile, ReturnsTheWholeContent) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "foretrain_file_test";
  const std::string content = std::string(200'000, 'x') + std::string("\0y", 2);
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(read_file(path, content.size()), content);
  EXPECT_NE(problem(path, content.size() - 1).find("larger than 0 MiB"), std::string::npos);
  std::filesystem::remove(path);
}

// A device that never ends.
TEST(ReadFile, ReadsNoMoreThanTheBeginningAllows) {
  const auto none = [](std::string_view) { return std::uintmax_t{0}; };
  EXPECT_EQ(read_file("/dev/zero", std::uintmax_t{1} << 40, none).size(), 1U << 16);
  const auto some = [](std::string_view beginning) { return 2 * beginning.size(); };
  EXPECT_THROW(read_file("/dev/zero", std::uintmax_t{1} << 40, some), Error);
}

TEST(ReadFile, SaysWhyNot) {
  EXPECT_EQ(problem("no/such", 10), "file 'no/such': there is no such file");
  EXPECT_EQ(problem("foretrain", 10), "file 'foretrain': is a folder");
}

}  // namespace
}  // namespace foretrain
