// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace foretrain::learn {

// Whether a factor is taken as it lies in memory or transposed.
enum class Layout { Plain, Transposed };

// C = A B, or C += A B with `accumulate`: A has m rows and k columns, B k rows and n columns, C m
// rows and n columns, all row by row without gaps; a transposed factor lies as k x m (n x k).
// Single precision. Uses AVX2 where the processor has it; the sums are then fused and differ in
// the last bits from those of processors without.
struct GemmShape {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
};
void gemm(const GemmShape& shape, Layout a_layout, const float* a, Layout b_layout, const float* b,
          bool accumulate, float* c);

}  // namespace foretrain::learn
