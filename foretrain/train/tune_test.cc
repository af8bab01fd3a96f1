// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/tune.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain::train {
namespace {

// Least at a strength of 1e-2 and degree 2.
double error_of(const Setting& setting) {
  const double off = std::log10(setting.strength) + 2;
  return 0.1 + 0.02 * off * off + (setting.degree == 2 ? 0 : 0.1);
}

TEST(Tune, AGridTriesAll) {
  int tried = 0;
  const TunedSetting best = tune(Method::Lasso, Tuning::Grid, 1, [&](const Setting& setting) {
    ++tried;
    return error_of(setting);
  });
  EXPECT_EQ(tried, 10);
  EXPECT_EQ(best.setting.strength, 1e-2);
  EXPECT_EQ(best.setting.degree, 2U);
  EXPECT_NEAR(best.error, 0.1, 1e-12);
}

TEST(Tune, BayesTriesFewOfMany) {
  int tried = 0;
  const TunedSetting best = tune(Method::Lasso, Tuning::Bayes, 1, [&](const Setting& setting) {
    ++tried;
    return error_of(setting);
  });
  EXPECT_LE(tried, 12);
  EXPECT_GT(fine_grid_of(Method::Lasso).size(), 20U);
  EXPECT_LT(best.error, 0.13);
}

TEST(Tune, OneSettingNeedsNoSearch) {
  const auto half = [](const Setting&) { return 0.5; };
  EXPECT_EQ(tune(Method::Ernest, Tuning::Bayes, 1, half).error, 0.5);
}

}  // namespace
}  // namespace foretrain::train
