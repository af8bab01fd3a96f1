// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework_file.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::cost {
namespace {

TEST(FrameworkFile, ReadsWhatItWrites) {
  Framework framework = framework_named("adaptdl");
  framework.hook_s = 5e-5;
  const std::string note = "by hand";
  const Framework read = read_framework(write_framework(framework, std::span(&note, 1)), "file");
  EXPECT_EQ(read.name, "adaptdl");
  for (const FrameworkNumber& number : framework_numbers()) {
    EXPECT_EQ(read.*number.place, framework.*number.place) << number.name;
  }
  EXPECT_TRUE(read.waits_for_device);
}

TEST(FrameworkFile, SaysWhatIsWrong) {
  Framework absurd = framework_named("adaptdl");
  absurd.hook_s = -1;
  EXPECT_THROW(read_framework(write_framework(absurd, {}), "file"), Error);
  EXPECT_THROW(read_framework(R"({"format": "foretrain-framework", "version": 1})", "file"), Error);
  EXPECT_THROW(read_framework(
                   R"({"format": "foretrain-framework", "version": 1, "framework": "torch"})", "f"),
               Error);
}

}  // namespace
}  // namespace foretrain::cost
