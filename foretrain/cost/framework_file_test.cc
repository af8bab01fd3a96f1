// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework_file.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/cost/test_device.h"

namespace foretrain::cost {
namespace {

TEST(FrameworkFile, ReadsWhatItWrites) {
  Framework own = framework_named("adaptdl");
  own.hook_s = 5e-5;
  own.flash = Flash::Three;
  own.casting = graph::Casting::WholeModel;
  const std::vector<Framework> written{own, framework_named("jax")};
  const std::string note = "by hand";
  const std::vector<Framework> read =
      read_frameworks(write_frameworks(written, std::span(&note, 1)), "file");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(framework_json(read[0]), framework_json(own));
  EXPECT_EQ(framework_json(read[1]), framework_json(written[1]));
  EXPECT_EQ(read[0].statistics.single.values, 13);
  EXPECT_EQ(read[0].flash, Flash::Three);
}

TEST(FrameworkFile, AFieldLeftOutHasItsDefault) {
  const std::vector<Framework> read = read_frameworks(
      R"({"format": "foretrain-frameworks", "version": 1,
          "frameworks": [{"name": "mine", "host_scale": 2}]})",
      "file");
  EXPECT_EQ(read[0].host_scale, 2);
  EXPECT_TRUE(read[0].copies_heads);
  EXPECT_EQ(read[0].update_passes, 1);
}

std::string problem(const std::string& rows) {
  try {
    read_frameworks(
        R"({"format": "foretrain-frameworks", "version": 1, "frameworks": )" + rows + "}", "file");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "none";
}

TEST(FrameworkFile, SaysWhatIsWrong) {
  EXPECT_EQ(problem(R"([{"name": "a"}])"), "none");
  EXPECT_NE(problem("[]").find("'frameworks'"), std::string::npos);
  EXPECT_NE(problem(R"([{"host_scale": 1}])").find("name"), std::string::npos);
  EXPECT_NE(problem(R"([{"name": "a", "hook_s": -1}])").find("'hook_s'"), std::string::npos);
  EXPECT_NE(problem(R"([{"name": "a", "fusion": "all"}])").find("pointwise"), std::string::npos);
  EXPECT_NE(problem(R"([{"name": "a", "speed": 1}])").find("speed"), std::string::npos);
  EXPECT_NE(problem(R"([{"name": "a", "update_tensors_per_launch": 0}])").find("at least 1"),
            std::string::npos);
  EXPECT_THROW(read_frameworks(R"({"format": "other", "version": 1})", "file"), Error);
}

}  // namespace
}  // namespace foretrain::cost
