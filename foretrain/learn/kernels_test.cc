// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/detail/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace foretrain::learn {
namespace {

std::vector<float> wave(std::size_t count, float phase) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::sin(0.7F * static_cast<float>(i) + phase);
  }
  return values;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-6) << i;
}

// What runs on processors without AVX2 answers as what runs here, but for last bits. Eleven
// numbers: eight and a rest.
TEST(Kernels, ForAnyProcessorAgree) {
  constexpr std::size_t kWidth = 11;
  const auto run = [](const Kernels& kernel) {
    std::vector<float> gates = wave(3 * kWidth, 0);
    const std::vector<float> sums = wave(3 * kWidth, 1);
    const std::vector<float> state = wave(kWidth, 2);
    std::vector<float> recurrent(kWidth);
    std::vector<float> all(kWidth);
    kernel.gru({kWidth, state.data(), sums.data(), gates.data(), recurrent.data(), all.data()});
    std::vector<float> to_input(3 * kWidth);
    std::vector<float> to_state(3 * kWidth);
    std::vector<float> to_old(kWidth);
    kernel.gru_gradient({kWidth, wave(kWidth, 3).data(), state.data(), recurrent.data(),
                         gates.data(), to_input.data(), to_state.data(), to_old.data()});
    for (const auto* part : {&gates, &to_input, &to_state, &to_old}) {
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  };
  expect_near(run(kernels()), run(plain_kernels()));
}

// A row of three entries over 43 columns: 32, eight and a rest.
TEST(Kernels, OfSparseRowsAgree) {
  const std::vector<std::int32_t> column{0, 2, 3};
  const std::vector<float> value{0.5F, -1, 2};
  const std::vector<float> x = wave(4 * 43, 0);
  const std::vector<float> bias = wave(43, 1);
  std::vector<float> expected(43);
  for (std::size_t j = 0; j < 43; ++j) {
    const float sum = 0.5F * x[j] - x[2 * 43 + j] + 2 * x[3 * 43 + j] + bias[j];
    expected[j] = sum > 0 ? sum : 0.1F * sum;
  }
  for (const Kernels* kernel : {&kernels(), &plain_kernels()}) {
    std::vector<float> result(43);
    kernel->sparse_row(
        {43, column.data(), value.data(), 3, x.data(), bias.data(), 0.1F, result.data()});
    expect_near(result, expected);
  }
}

// Products of one to seven rows: a whole tile and every rest.
TEST(Kernels, OfPanelsAgree) {
  const std::vector<float> a = wave(7 * 5, 0);
  const std::vector<float> b = wave(5 * 16, 1);
  for (std::size_t rows = 1; rows <= 7; ++rows) {
    const auto run = [&](const Kernels& kernel) {
      std::vector<float> c(rows * 16, 1);
      kernel.panel({.rows = rows,
                    .depth = 5,
                    .a = a.data(),
                    .a_tile = 5,
                    .a_row = 5,
                    .a_step = 1,
                    .b = b.data(),
                    .b_step = 16,
                    .start = c.data(),
                    .start_stride = 16,
                    .c = c.data(),
                    .c_stride = 16});
      return c;
    };
    expect_near(run(kernels()), run(plain_kernels()));
  }
}

}  // namespace
}  // namespace foretrain::learn
