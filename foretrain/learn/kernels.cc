// SPDX-License-Identifier: Apache-2.0
// Compiled with -ffp-contract=fast, so that products and sums fuse where the processor can.
#include "foretrain/learn/detail/kernels.h"

#include <cstring>
#include <initializer_list>

// Without AVX2 the compiler warns that it passes eight floats in memory; such calls are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace foretrain::learn {
namespace {

constexpr std::size_t kLanes = 8;
#define FORETRAIN_INLINE FORETRAIN_TARGET inline __attribute__((always_inline))

namespace plain {
#define FORETRAIN_TARGET
#include "foretrain/learn/detail/eight.inc"
#include "foretrain/learn/detail/kernel_bodies.inc"
#undef FORETRAIN_TARGET
}  // namespace plain

#if defined(__x86_64__)
namespace avx2 {
#define FORETRAIN_TARGET __attribute__((target("avx2,fma")))
#include "foretrain/learn/detail/eight.inc"
#include "foretrain/learn/detail/kernel_bodies.inc"
#undef FORETRAIN_TARGET
}  // namespace avx2
#endif

}  // namespace

const Kernels& plain_kernels() { return plain::kKernels; }

const Kernels& kernels() {
#if defined(__x86_64__)
  static const bool kAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (kAvx2) return avx2::kKernels;
#endif
  return plain_kernels();
}

}  // namespace foretrain::learn
