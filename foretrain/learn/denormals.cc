// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/denormals.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace foretrain::learn {

#if defined(__x86_64__)

// Bits of MXCSR (Intel 64 manual, volume 1, 10.2.3): results to zero, operands to zero.
constexpr unsigned kResultsToZero = 0x8000;
constexpr unsigned kOperandsToZero = 0x0040;

FlushDenormals::FlushDenormals() : before_(_mm_getcsr()) {
  _mm_setcsr(before_ | kResultsToZero | kOperandsToZero);
}

FlushDenormals::~FlushDenormals() { _mm_setcsr(before_); }

#else

FlushDenormals::FlushDenormals() = default;
FlushDenormals::~FlushDenormals() = default;

#endif

}  // namespace foretrain::learn
