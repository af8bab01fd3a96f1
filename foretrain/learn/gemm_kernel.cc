// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/detail/gemm_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace foretrain::learn {
namespace {

void plain_kernel(std::size_t depth, const float* a, const float* b, std::size_t stride, float* c) {
  for (std::size_t p = 0; p < depth; ++p) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const float factor = a[p * kTileRows + r];
      for (std::size_t s = 0; s < kTileColumns; ++s) {
        c[r * stride + s] += factor * b[p * kTileColumns + s];
      }
    }
  }
}

#if defined(__x86_64__)
// Twelve registers hold the tile, two a row of B, one an element of A.
__attribute__((target("avx2,fma"))) void avx2_kernel(std::size_t depth, const float* a,
                                                     const float* b, std::size_t stride, float* c) {
  __m256 sum[kTileRows][2];
#pragma GCC unroll 6
  for (std::size_t r = 0; r < kTileRows; ++r) {
    sum[r][0] = _mm256_loadu_ps(c + r * stride);
    sum[r][1] = _mm256_loadu_ps(c + r * stride + 8);
  }
  for (std::size_t p = 0; p < depth; ++p) {
    const __m256 left = _mm256_loadu_ps(b);
    const __m256 right = _mm256_loadu_ps(b + 8);
    b += kTileColumns;
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(a + r);
      sum[r][0] = _mm256_fmadd_ps(factor, left, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(factor, right, sum[r][1]);
    }
    a += kTileRows;
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < kTileRows; ++r) {
    _mm256_storeu_ps(c + r * stride, sum[r][0]);
    _mm256_storeu_ps(c + r * stride + 8, sum[r][1]);
  }
}
#endif

}  // namespace

Kernel fastest_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_kernel;
#endif
  return plain_kernel;
}

}  // namespace foretrain::learn
