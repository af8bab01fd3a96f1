// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/cost/test_device.h"

namespace foretrain::cost {
namespace {

TEST(Framework, EveryNameFindsItsRow) {
  EXPECT_GT(known_frameworks().size(), 10u);
  for (const Framework& row : known_frameworks()) {
    EXPECT_EQ(&framework_named(row.name), &row);
    EXPECT_FALSE(row.source.empty());
    EXPECT_GT(row.host_scale, 0);
    EXPECT_GE(row.update_passes, 1);
    EXPECT_GE(row.update_tensors_per_launch, 1);
  }
}

// AdaptDL: 5 operators in a hook and 9 afterwards; Adam's preconditioner takes 5 in each place, a
// single worker 9 more and 2 with Adam. Values: 9 and 8; 11 each; 13 and 6.
TEST(Framework, StatisticsDependOnOptimizerAndWorkers) {
  const Framework& adaptdl = framework_named("adaptdl");
  const GradientStatistics several = statistics_of(adaptdl, graph::Optimizer::Momentum, 2);
  EXPECT_EQ(several.hook.operators, 5);
  EXPECT_EQ(several.after.values, 8);
  const GradientStatistics alone = statistics_of(adaptdl, graph::Optimizer::AdamW, 1);
  EXPECT_EQ(alone.hook.operators, 10);
  EXPECT_EQ(alone.hook.values, 20);
  EXPECT_EQ(alone.after.operators, 9 + 5 + 9 + 2);
  EXPECT_EQ(alone.after.values, 8 + 11 + 13 + 6);
}

TEST(Framework, TakesThePlaceOfTheOneOfItsName) {
  std::vector<Framework> some;
  put({.name = "a", .host_scale = 2}, some);
  put({.name = "b", .host_scale = 3}, some);
  put({.name = "a", .host_scale = 4}, some);
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(framework_named(some, "a").host_scale, 4);
}

// A name that is near may be another version's: 1.11 is no 1.12.
TEST(Framework, VersionsWithoutARowAreSaidToBeAnothers) {
  for (const auto& [name, row] :
       {std::pair("pytorch-1.11", "'pytorch-1'"), std::pair("pytorch-1.7.1", "'pytorch-1.9'"),
        std::pair("pytorch-1.13", "'pytorch-1.12'"), std::pair("pytorch-2.4", "'pytorch'")}) {
    try {
      framework_named(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("is ") + row), std::string::npos)
          << error.what();
    }
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
