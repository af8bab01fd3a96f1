// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace foretrain::learn {
namespace {

std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(generator() % 2001) / 1000.0F - 1.0F;
  return values;
}

// Sums in double precision, element by element.
void check(const GemmShape& shape, Layout a_layout, Layout b_layout, bool accumulate) {
  const std::vector<float> a = drawn(shape.m * shape.k, 1);
  const std::vector<float> b = drawn(shape.k * shape.n, 2);
  std::vector<float> c = drawn(shape.m * shape.n, 3);
  const std::vector<float> before = c;
  gemm(shape, {a.data(), a_layout == Layout::Plain ? shape.k : shape.m, a_layout},
       Factor{b.data(), b_layout == Layout::Plain ? shape.n : shape.k, b_layout}, accumulate,
       c.data(), shape.n);
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      double sum = accumulate ? static_cast<double>(before[i * shape.n + j]) : 0.0;
      for (std::size_t p = 0; p < shape.k; ++p) {
        const float x = a_layout == Layout::Plain ? a[i * shape.k + p] : a[p * shape.m + i];
        const float y = b_layout == Layout::Plain ? b[p * shape.n + j] : b[j * shape.k + p];
        sum += static_cast<double>(x) * y;
      }
      ASSERT_NEAR(c[i * shape.n + j], sum, 2e-5 * std::sqrt(static_cast<double>(shape.k)))
          << shape.m << " x " << shape.n << " x " << shape.k << " at " << i << ", " << j;
    }
  }
}

// Within one tile, beside its edges, and beyond every block.
TEST(Gemm, AgreesWithPlainSums) {
  for (const GemmShape& shape :
       {GemmShape{1, 1, 1}, GemmShape{6, 16, 3}, GemmShape{7, 17, 5}, GemmShape{100, 64, 64},
        GemmShape{97, 33, 300}, GemmShape{5, 1030, 2}}) {
    for (const Layout a : {Layout::Plain, Layout::Transposed}) {
      for (const Layout b : {Layout::Plain, Layout::Transposed}) {
        check(shape, a, b, false);
        check(shape, a, b, true);
      }
    }
  }
}

TEST(Gemm, OfNothingIsZero) {
  std::vector<float> c{1, 2};
  const float none = 0;
  gemm({1, 2, 0}, {&none, 0}, Factor{&none, 2}, false, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{0, 0}));
}

// (1, 2) times the first two rows of (1 2 3; 4 5 6; 7 8 9): 9, 12, 15; of these two columns.
TEST(Gemm, TakesAPartOfAPackedMatrix) {
  const std::vector<float> b{1, 2, 3, 4, 5, 6, 7, 8, 9};
  PackedMatrix packed;
  pack({b.data(), 3}, 3, 3, packed);
  const std::vector<float> a{1, 2};
  std::vector<float> c{1, 1, 1};
  gemm({1, 2, 2}, {a.data(), 2}, packed, true, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{10, 13, 1}));
}

// Five rows of 18 columns: sums in four parts and a rest, a whole panel and a part of one.
TEST(Gemm, OfOneRowAgrees) {
  const std::vector<float> x = drawn(5, 1);
  const std::vector<float> b = drawn(5 * 18, 2);
  PackedMatrix packed;
  pack({b.data(), 18}, 5, 18, packed);
  std::vector<float> y(18, 1);
  row_times(x.data(), packed, true, y.data());
  std::vector<float> expected(18, 1);
  gemm({1, 18, 5}, {x.data(), 5}, packed, true, expected.data(), 18);
  for (std::size_t j = 0; j < 18; ++j) EXPECT_NEAR(y[j], expected[j], 1e-6);
  row_times(x.data(), packed, false, y.data());
  for (std::size_t j = 0; j < 18; ++j) EXPECT_NEAR(y[j], expected[j] - 1, 1e-6);
}

}  // namespace
}  // namespace foretrain::learn
