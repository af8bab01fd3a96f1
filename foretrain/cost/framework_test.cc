// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::cost {
namespace {

TEST(Framework, EveryNameFindsItsRow) {
  for (const std::string& name : framework_names()) {
    const Framework& row = framework_named(name);
    EXPECT_EQ(row.name, name);
    EXPECT_GT(row.host_scale, 0);
    EXPECT_GE(row.update_passes, 1);
    EXPECT_GE(row.update_tensors_per_launch, 1);
  }
}

TEST(Framework, AnUnknownNameListsNearOnes) {
  try {
    framework_named("pytorc");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::NotFound);
    EXPECT_NE(std::string(error.what()).find("'pytorch'"), std::string::npos);
  }
}

}  // namespace
}  // namespace foretrain::cost
