// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/exchange_costs.h"

#include <gtest/gtest.h>

namespace foretrain::comm {
namespace {

TEST(ExchangeCosts, AreReadAsTheyWereWritten) {
  ExchangeCosts costs;
  double next = 1;  // every number another one
  for (const NumberPlace& place : named_numbers(costs)) *place.value = next++;
  ExchangeCosts read = read_exchange_costs(write_exchange_costs(costs, {}), "file");
  double expected = 1;
  for (const NumberPlace& place : named_numbers(read)) EXPECT_EQ(*place.value, expected++);
  EXPECT_EQ(expected, 17);  // one more than there are numbers
}

}  // namespace
}  // namespace foretrain::comm
