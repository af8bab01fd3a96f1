// SPDX-License-Identifier: Apache-2.0
// Eight floats at a time. kernels.cc includes this once for each instruction set, with
// FORETRAIN_TARGET saying which.

using Eight = float __attribute__((vector_size(32)));
using EightInts = std::int32_t __attribute__((vector_size(32)));

FORETRAIN_INLINE Eight eight(float x) { return x - Eight{}; }  // one instruction, unlike a list

FORETRAIN_INLINE Eight load(const float* from) {
  Eight value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

FORETRAIN_INLINE void store(const Eight& value, float* to) {
  std::memcpy(to, &value, sizeof value);
}

// The first `count` of eight; the others are zero and are not stored.
FORETRAIN_INLINE Eight load(const float* from, std::size_t count) {
  if (count >= kLanes) return load(from);
  Eight value{};
  std::memcpy(&value, from, count * sizeof(float));
  return value;
}

FORETRAIN_INLINE void store(const Eight& value, float* to, std::size_t count) {
  if (count >= kLanes) return store(value, to);
  std::memcpy(to, &value, count * sizeof(float));
}

FORETRAIN_INLINE float sum_of(const Eight& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// e^x = 2^n e^r with |r| <= ln(2) / 2, where a polynomial of degree 6 is exact to the last bits.
// Arguments are held within what a float can hold.
// Source: Cody, Waite, Software Manual for the Elementary Functions, 1980 (the reduction).
FORETRAIN_INLINE Eight exp_of(const Eight& given) {
  const Eight shift = eight(12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number
  const Eight above = given > eight(-87.0F) ? given : eight(-87.0F);
  const Eight x = above < eight(88.0F) ? above : eight(88.0F);
  const Eight shifted = x * eight(1.44269504F) + shift;
  const Eight n = shifted - shift;
  const Eight r = (x - n * eight(0.693359375F)) - n * eight(-2.12194440e-4F);  // ln(2), two parts
  Eight p = eight(1.0F / 720) * r + eight(1.0F / 120);
  p = p * r + eight(1.0F / 24);
  p = p * r + eight(1.0F / 6);
  p = p * r + eight(0.5F);
  p = p * r + eight(1.0F);
  p = p * r + eight(1.0F);
  EightInts exponent;  // its low bits are n
  std::memcpy(&exponent, &shifted, sizeof exponent);
  EightInts bits;
  std::memcpy(&bits, &p, sizeof bits);
  bits += exponent << 23;
  Eight result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

FORETRAIN_INLINE Eight sigmoid_of(const Eight& x) { return eight(1) / (eight(1) + exp_of(-x)); }

// (e^2x - 1) / (e^2x + 1), which would cancel near zero. There, the continued fraction
// x / (1 + x^2 / (3 + x^2 / (5 + x^2 / (7 + x^2 / 9)))), written as one quotient.
FORETRAIN_INLINE Eight tanh_of(const Eight& x) {
  const Eight s = x * x;
  const auto near = s < eight(0.16F);
  const Eight growth = exp_of(x + x);
  const Eight above = near ? x * (s * (s + eight(105)) + eight(945)) : growth - eight(1);
  const Eight below = near ? s * (s * eight(15) + eight(420)) + eight(945) : growth + eight(1);
  return above / below;
}
