// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/detail/host_drift.h"

#include <gtest/gtest.h>

#include <vector>

namespace foretrain::measured {
namespace {

// t = 40 us + 0.1 us i + 3 us work; work goes through 0, 1, 2, 3 again and again.
std::vector<ShortOperator> series(int count) {
  std::vector<ShortOperator> operators;
  for (int i = 0; i < count; ++i) {
    const double work = i % 4;
    operators.push_back({static_cast<double>(i), work, 40e-6 + 0.1e-6 * i + 3e-6 * work});
  }
  return operators;
}

TEST(HostDrift, IsFoundBesideTheWork) {
  const HostDrift drift = find_host_drift(series(40));
  EXPECT_NEAR(drift.start_s, 40e-6, 1e-10);
  EXPECT_NEAR(drift.slope_s, 0.1e-6, 1e-12);
}

// Least squares would move the line: three of forty are 1 ms late, 75 us on average.
TEST(HostDrift, IsNotMovedByAFewSlowOperators) {
  std::vector<ShortOperator> operators = series(40);
  for (const std::size_t i : {5U, 6U, 33U}) operators[i].measured_s += 1e-3;
  const HostDrift drift = find_host_drift(operators);
  EXPECT_NEAR(drift.start_s, 40e-6, 1e-6);
  EXPECT_NEAR(drift.slope_s, 0.1e-6, 0.05e-6);
}

TEST(HostDrift, OfTooFewIsNone) {
  EXPECT_EQ(find_host_drift(series(3)).start_s, 0);
  EXPECT_EQ(find_host_drift({}).slope_s, 0);
}

}  // namespace
}  // namespace foretrain::measured
