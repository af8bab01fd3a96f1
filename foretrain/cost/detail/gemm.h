// SPDX-License-Identifier: Apache-2.0
// GEMM by tiles and waves. Every candidate grows with each dimension, so their
// minimum does. Source: docs/models/gemm.md.
#pragma once

#include <cmath>

#include "foretrain/cost/detail/context.h"
#include "foretrain/cost/op_time.h"

namespace foretrain::cost {

// `batch` GEMMs of m x k by k x n.
struct Gemm {
  double batch = 1;
  double m = 1;
  double n = 1;
  double k = 1;
  double in_bytes = 4;   // per element of both operands
  double out_bytes = 4;  // per element of the result
  bool batched = false;  // a batched kernel, even where the batch is 1
};

// Occupancy of the device: `tiles` run in waves on `sms` multiprocessors (SMs), and a share `tail`
// of the idle rest of the last wave is lost (wave quantization). Returns the tiles that a device
// with all its multiprocessors busy could have computed in that time.
inline double occupied(double tiles, double sms, double tail) {
  const double full = std::ceil(tiles / sms) * sms;
  const double work = tiles + tail * (full - tiles);
  return work > sms ? work : sms;
}

// On vector units (fp32, fp64).
OpTime gemm_vector(const Gemm& gemm, const Context& context);
// On tensor cores, at `flops_per_s`.
OpTime gemm_tensor(const Gemm& gemm, double flops_per_s, const Context& context);

// Whichever of both a GEMM of tensors stored as `type` uses. `weights`: one operand is a
// weight matrix, so fp8 applies.
OpTime gemm_time(const Gemm& gemm, DType type, bool weights, const Context& context);

}  // namespace foretrain::cost
