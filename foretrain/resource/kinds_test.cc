// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/kinds.h"

#include <gtest/gtest.h>

#include <set>

namespace foretrain::resource {
namespace {

// Two roles with four resources of five numbers.
TEST(Kinds, EveryNumberOfEveryResourceHasANameOfItsOwn) {
  EXPECT_EQ(use_names().size(), 2U * 4 * 5);
  std::set<std::string_view> names;
  for (const UseName& use : use_names()) EXPECT_TRUE(names.insert(use.report).second);
}

TEST(Kinds, ANameIsItsPathInTheReport) {
  const UseName& first = use_names().front();
  EXPECT_EQ(first.report, "resources.worker.gpu_util.burst_amount");
  EXPECT_EQ(first.name, "worker.gpu_util.burst_amount");
  const UseName& last = use_names().back();
  EXPECT_EQ(last.name, "server.net_rx.burst_share");
  EXPECT_EQ(last.role, Role::Server);
  EXPECT_EQ(last.resource, Resource::Receive);
  EXPECT_EQ(last.number, Number::BurstShare);
}

}  // namespace
}  // namespace foretrain::resource
