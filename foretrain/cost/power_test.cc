// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/cost/test_device.h"

namespace foretrain::cost {
namespace {

OpTime op(double compute, double memory, double unthrottled_share) {
  return {Seconds{std::max(compute, memory)}, Seconds{compute}, Seconds{memory}, 1,
          unthrottled_share};
}

// GEMMs at half of the rate that power to spare would allow; memory-bound kernels draw 0.6 of the
// limit.
struct Case {
  OperatorModel model = test_model();
  Context context;
  Case() {
    model.constants.power.memory_bound = 0.6;
    context.model = &model;
    context.gemm_unthrottled_share = 0.5;
  }
  double total(std::vector<OpTime> step) const {
    share_power(step, context);
    double sum = 0;
    for (const OpTime& time : step) sum += time.total.count();
    return sum;
  }
};

// 10 s of GEMMs beside 5 s memory-bound: 10 + 0.6 * 5 = 13 s; the GEMMs take the 2 s saved.
TEST(SharePower, StreamsLeavePowerToProducts) {
  const Case one;
  std::vector<OpTime> step{op(10, 1, 0.5), op(0, 5, 1)};
  EXPECT_NEAR(one.total(step), 13, 1e-9);
  share_power(step, one.context);
  EXPECT_NEAR(step[0].total.count(), 8, 1e-9);
  EXPECT_NEAR(step[1].total.count(), 5, 1e-9);
}

// 2 s of GEMMs beside 20 s: the limit no longer binds, and they run at twice the rate: 21 s.
TEST(SharePower, ProductsAreNeverFasterThanWithPowerToSpare) {
  EXPECT_NEAR(Case().total({op(2, 0, 0.5), op(0, 20, 1)}), 21, 1e-9);
}

TEST(SharePower, AloneProductsKeepTheirLimit) {
  EXPECT_NEAR(Case().total({op(10, 1, 0.5)}), 10, 1e-9);
}

TEST(SharePower, MoreTrafficIsNeverFaster) {
  const Case one;
  double before = 0;
  for (double memory = 0; memory < 30; memory += 0.25) {
    const double now = one.total({op(10, memory, 0.5), op(1, memory / 3, 0.5), op(0, 2, 1)});
    EXPECT_GE(now, before - 1e-12) << memory;
    before = now;
  }
}

}  // namespace
}  // namespace foretrain::cost
