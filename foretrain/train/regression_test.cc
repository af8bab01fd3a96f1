// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"

namespace foretrain::train {
namespace {

// 120 rows of log t = 1 + 0.5 a - 0.25 b on a grid; smooth, so every method comes near to it.
struct Plane {
  BoostData data;
  std::vector<std::size_t> fold;

  Plane() {
    for (int i = 0; i < 120; ++i) {
      const double a = i % 12;
      const double b = i / 12;
      data.features.push_back({a, b});
      data.targets.push_back(at(a, b));
      data.weights.push_back(1);
      fold.push_back(static_cast<std::size_t>(i % 5));
    }
  }
  static double at(double a, double b) { return 4 + 0.5 * a - 0.25 * b; }
};

TEST(Regression, EveryMethodLearnsAPlane) {
  const Plane plane;
  for (const Method method : all_methods()) {
    if (is_of_plain_time(method)) continue;  // these know no negative weight
    const learn::Regressor found = fit_regressor(plane.data, grid_of(method).back(), plane.fold, 1);
    ASSERT_TRUE(learn::is_sound(found, 2)) << name_of(method);
    double worst = 0;
    for (std::size_t i = 0; i < plane.data.targets.size(); ++i) {
      const double told = learn::evaluate(found, plane.data.features[i]);
      worst = std::max(worst, std::abs(told - plane.data.targets[i]));
    }
    EXPECT_LT(worst, 1.6) << name_of(method);  // of 8 between the lowest and the highest
  }
}

TEST(Regression, SmoothMethodsLearnItWell) {
  const Plane plane;
  for (const Method method : {Method::Ridge, Method::Stepwise, Method::Svr, Method::Mlp}) {
    const learn::Regressor found = fit_regressor(plane.data, grid_of(method).back(), plane.fold, 1);
    // Between the rows.
    EXPECT_NEAR(learn::evaluate(found, std::vector<double>{5.5, 4.5}), Plane::at(5.5, 4.5), 0.15)
        << name_of(method);
  }
}

TEST(Regression, IsTheSameForTheSameSeed) {
  const Plane plane;
  const std::vector<double> x{3.3, 4.4};
  for (const Method method : {Method::Forest, Method::Xgboost, Method::Mlp, Method::Svr}) {
    const Setting setting = grid_of(method).front();
    const double one = learn::evaluate(fit_regressor(plane.data, setting, plane.fold, 7), x);
    EXPECT_EQ(one, learn::evaluate(fit_regressor(plane.data, setting, plane.fold, 7), x))
        << name_of(method);
  }
}

TEST(Regression, NamesReadBack) {
  for (const Method method : all_methods()) {
    EXPECT_EQ(method_named(name_of(method)), method);
    EXPECT_FALSE(grid_of(method).empty());
    EXPECT_TRUE(text_of(grid_of(method).front()).starts_with(name_of(method)));
  }
  EXPECT_FALSE(method_named("magic"));
  EXPECT_THROW(fit_regressor({}, {}, {}, 1), Error);
}

}  // namespace
}  // namespace foretrain::train
