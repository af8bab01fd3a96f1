// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/straggling.h"

#include <gtest/gtest.h>

namespace foretrain::cost {
namespace {

TEST(Straggling, IsReadAsItWasWritten) {
  const Straggling read = read_straggling(write_straggling({0.25, 0.5}, {}), "file");
  EXPECT_EQ(read.step_variation, 0.25);
  EXPECT_EQ(read.shared_node_slowdown, 0.5);
}

}  // namespace
}  // namespace foretrain::cost
