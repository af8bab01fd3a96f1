// SPDX-License-Identifier: Apache-2.0
// The inner loop of a GEMM: one tile of the result, which stays in registers.
#pragma once

#include <cstddef>

namespace foretrain::learn {

inline constexpr std::size_t kTileRows = 6;
inline constexpr std::size_t kTileColumns = 16;

// c[r][s] += sum over p of a[p][r] b[p][s]; rows of c are `stride` apart.
using Kernel = void (*)(std::size_t depth, const float* a, const float* b, std::size_t stride,
                        float* c);

Kernel fastest_kernel();  // that this processor can run

}  // namespace foretrain::learn
