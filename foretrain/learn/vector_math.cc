// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/vector_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace foretrain::learn {
namespace {

// e^x = 2^n e^r with |r| <= ln(2) / 2, where a polynomial of degree 6 is exact to the last bits.
// Arguments are held within what a float can hold.
// Source: Cody, Waite, Software Manual for the Elementary Functions, 1980 (the reduction).
constexpr float kLeast = -87.0F;
constexpr float kMost = 88.0F;
constexpr float kLog2e = 1.44269504F;
constexpr float kHigh = 0.693359375F;    // of ln(2), few bits
constexpr float kLow = -2.12194440e-4F;  // the rest
constexpr float kShift = 12582912.0F;    // 1.5 * 2^23: adding it rounds to a whole number
constexpr float kTaylor[]{1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F};

float exp_of(float x) {
  x = std::min(std::max(x, kLeast), kMost);
  const float shifted = x * kLog2e + kShift;
  const float n = shifted - kShift;
  const float r = (x - n * kHigh) - n * kLow;
  float p = kTaylor[0];
  for (int i = 1; i < 7; ++i) p = p * r + kTaylor[i];
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) << 23;  // its low bits are n
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(p) + exponent);
}

float sigmoid_of(float x) { return 1.0F / (1.0F + exp_of(-x)); }

// Near zero 1 - 2 / (e^2x + 1) would cancel. There, the continued fraction
// x / (1 + x^2 / (3 + x^2 / (5 + x^2 / (7 + x^2 / 9)))), written as one quotient.
constexpr float kNear = 0.4F;

float tanh_of(float x) {
  const float s = x * x;
  if (std::abs(x) < kNear) {
    return x * (s * (s + 105.0F) + 945.0F) / (s * (15.0F * s + 420.0F) + 945.0F);
  }
  return 1.0F - 2.0F / (exp_of(2.0F * x) + 1.0F);
}

#if defined(__x86_64__)
#define FORETRAIN_AVX2 __attribute__((target("avx2,fma"), always_inline)) inline

FORETRAIN_AVX2 __m256 all(float value) { return _mm256_set1_ps(value); }

FORETRAIN_AVX2 __m256 exp_of(__m256 x) {
  x = _mm256_min_ps(_mm256_max_ps(x, all(kLeast)), all(kMost));
  const __m256 shift = all(kShift);
  const __m256 shifted = _mm256_fmadd_ps(x, all(kLog2e), shift);
  const __m256 n = _mm256_sub_ps(shifted, shift);
  __m256 r = _mm256_fnmadd_ps(n, all(kHigh), x);
  r = _mm256_fnmadd_ps(n, all(kLow), r);
  __m256 p = all(kTaylor[0]);
#pragma GCC unroll 6
  for (int i = 1; i < 7; ++i) p = _mm256_fmadd_ps(p, r, all(kTaylor[i]));
  const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
}

FORETRAIN_AVX2 __m256 sigmoid_of(__m256 x) {
  const __m256 one = all(1);
  const __m256 negative = _mm256_sub_ps(_mm256_setzero_ps(), x);
  return _mm256_div_ps(one, _mm256_add_ps(one, exp_of(negative)));
}

FORETRAIN_AVX2 __m256 tanh_of(__m256 x) {
  const __m256 s = _mm256_mul_ps(x, x);
  const __m256 above = _mm256_fmadd_ps(s, _mm256_add_ps(s, all(105)), all(945));
  const __m256 below = _mm256_fmadd_ps(s, _mm256_fmadd_ps(all(15), s, all(420)), all(945));
  const __m256 near = _mm256_div_ps(_mm256_mul_ps(x, above), below);
  const __m256 growth = _mm256_add_ps(exp_of(_mm256_add_ps(x, x)), all(1));
  const __m256 far = _mm256_sub_ps(all(1), _mm256_div_ps(all(2), growth));
  const __m256 size = _mm256_andnot_ps(all(-0.0F), x);
  return _mm256_blendv_ps(far, near, _mm256_cmp_ps(size, all(kNear), _CMP_LT_OQ));
}

// Eight at a time; the last few together with zeros.
#define FORETRAIN_EIGHT_AT_A_TIME(name, function)                          \
  __attribute__((target("avx2,fma"))) void name(std::span<float> values) { \
    float* data = values.data();                                           \
    std::size_t i = 0;                                                     \
    for (; i + 8 <= values.size(); i += 8) {                               \
      _mm256_storeu_ps(data + i, function(_mm256_loadu_ps(data + i)));     \
    }                                                                      \
    if (i == values.size()) return;                                        \
    float rest[8] = {};                                                    \
    std::copy(data + i, data + values.size(), rest);                       \
    _mm256_storeu_ps(rest, function(_mm256_loadu_ps(rest)));               \
    std::copy(rest, rest + (values.size() - i), data + i);                 \
  }
FORETRAIN_EIGHT_AT_A_TIME(exp_avx2, exp_of)
FORETRAIN_EIGHT_AT_A_TIME(sigmoid_avx2, sigmoid_of)
FORETRAIN_EIGHT_AT_A_TIME(tanh_avx2, tanh_of)

bool has_avx2() {
  static const bool kHas = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return kHas;
}
#endif

}  // namespace

void exp_all(std::span<float> values) {
#if defined(__x86_64__)
  if (has_avx2()) return exp_avx2(values);
#endif
  for (float& value : values) value = exp_of(value);
}

void sigmoid_all(std::span<float> values) {
#if defined(__x86_64__)
  if (has_avx2()) return sigmoid_avx2(values);
#endif
  for (float& value : values) value = sigmoid_of(value);
}

void tanh_all(std::span<float> values) {
#if defined(__x86_64__)
  if (has_avx2()) return tanh_avx2(values);
#endif
  for (float& value : values) value = tanh_of(value);
}

}  // namespace foretrain::learn
