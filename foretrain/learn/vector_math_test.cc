// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace foretrain::learn {
namespace {

// An odd number of values, so that the last few are done by themselves.
std::vector<float> values() {
  std::vector<float> result;
  for (int i = -20'001; i <= 20'001; ++i) result.push_back(static_cast<float>(i) * 1e-3F);
  return result;
}

template <typename Exact>
double largest_error(void (*all)(std::span<float>), const Exact& exact) {
  const std::vector<float> x = values();
  std::vector<float> y = x;
  all(y);
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double truth = exact(static_cast<double>(x[i]));
    if (truth != 0) error = std::max(error, std::abs(y[i] / truth - 1));
  }
  return error;
}

TEST(VectorMath, IsExactToTheLastBits) {
  EXPECT_LT(largest_error(exp_all, [](double x) { return std::exp(x); }), 4e-7);
  EXPECT_LT(largest_error(sigmoid_all, [](double x) { return 1 / (1 + std::exp(-x)); }), 4e-7);
  EXPECT_LT(largest_error(tanh_all, [](double x) { return std::tanh(x); }), 4e-7);
}

TEST(VectorMath, StaysFiniteFarOut) {
  std::vector<float> x{-1e30F, 1e30F, 0};
  tanh_all(x);
  EXPECT_EQ(x, (std::vector<float>{-1, 1, 0}));
  x = {-1e30F, 1e30F};
  sigmoid_all(x);
  EXPECT_NEAR(x[0], 0, 1e-30);
  EXPECT_EQ(x[1], 1);
  exp_all({});
}

}  // namespace
}  // namespace foretrain::learn
