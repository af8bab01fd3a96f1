// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/constants.h"

#include <gtest/gtest.h>

#include <set>

#include "foretrain/base/error.h"
#include "foretrain/cost/test_device.h"

namespace foretrain::cost {
namespace {

std::string text_of(const Constants& constants) {
  return write_constants(constants, std::vector<std::string>{"a note"});
}

std::string problem(std::string text, const std::string& part, const std::string& instead) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), instead);
  try {
    read_constants(text, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Constants, AreTheSameAfterAFile) {
  Constants before = test_model().constants;
  double next = 0.125;
  for (const NamedConstant& constant : named_constants(before)) *constant.value = next += 0.125;
  Constants after = read_constants(text_of(before), "file");
  const std::vector<NamedConstant> first = named_constants(before);
  const std::vector<NamedConstant> second = named_constants(after);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(*first[i].value, *second[i].value) << first[i].name;
  }
}

// Every member of the struct is listed once: as many values as the struct holds doubles.
TEST(Constants, AreAllNamedOnce) {
  Constants constants;
  std::set<std::string> names;
  for (const NamedConstant& constant : named_constants(constants)) names.insert(constant.name);
  EXPECT_EQ(names.size(), sizeof(Constants) / sizeof(double));
  EXPECT_TRUE(names.contains("gemm.tiles.4"));
}

TEST(Constants, SayWhatIsWrongInAFile) {
  const std::string text = text_of(test_model().constants);
  EXPECT_NE(problem(text, "foretrain-operators", "other").find("fit operators"), std::string::npos);
  EXPECT_NE(problem(text, "\"reread\"", "\"misread\"").find("reread"), std::string::npos);
  EXPECT_NE(problem(text, "\"reread\": 0.368", "\"reread\": -1").find("gemm.reread"),
            std::string::npos);
  EXPECT_NE(problem(text, "\"reread\": 0.368", "\"reread\": [1]").find("not a number"),
            std::string::npos);
  EXPECT_NE(problem(text, "\"miss\":", "\"new\": 1, \"miss\":").find("new"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::cost
