// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/attention.h"

#include <algorithm>
#include <cmath>

#include "foretrain/cost/families.h"
#include "foretrain/cost/gemm.h"
#include "foretrain/cost/smooth_max.h"
#include "foretrain/cost/sustained.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;

// Shares of the 16-bit tensor peak that large problems reach, heads of 128 values, and keys per
// row that filling the pipeline costs.
struct Kernel {
  double forward;
  double backward;
  double start;
  double start_backward;
};

// First and third generation: fitted on MosaicML's MPT tables. Second: likewise, with the
// backward start and the tiles below from ETT's A100 rows.
Kernel kernel_of(Flash flash, Generation generation) {
  const bool newer = generation >= Generation::Hopper;
  if (flash == Flash::One) {
    return newer ? Kernel{0.205, 0.164, 0, 0} : Kernel{0.388, 0.310, 0, 0};
  }
  if (!newer) return {0.60, 0.56, 0, 350};
  if (flash == Flash::Two) return {0.387, 0.36, 0, 350};
  return {0.67, 0.53, 600, 700};
}

// Without matrix units: the same kernels at these shares of the fp32 rate of products. Assumed.
constexpr Kernel kVectorKernel{0.5, 0.4, 0, 0};
// Below this share of the peak, power limits attention as well.
constexpr double kPowerShare = 0.70;

constexpr double kRows = 128;  // queries per tile
constexpr double kStep = 32;   // head sizes are padded to multiples

// Heads other than 128 wide: shares of the rate. MosaicML's tables (64) and ETT (above 128).
double head_share(double head) {
  if (head <= 64) return 0.9;
  return head <= 128 ? 1 : 0.87;
}

}  // namespace

void set_attention_rates(Context& c, const hw::Device& device) {
  const bool wide = c.precision == Precision::Fp32 || c.precision == Precision::Fp64;
  const double peak = device.tensor_fp16_flops_per_s.value_or(0);
  Kernel kernel = kVectorKernel;
  double rate = c.gemm_flops_per_s;
  if (!wide && peak > 0) {
    kernel = kernel_of(c.framework->flash, c.generation);
    rate = peak * std::min(1.0, tensor_share(device) / kPowerShare);
    if (c.precision == Precision::Tf32) rate /= 2;
  }
  c.attention = {.flops_per_s = kernel.forward * rate,
                 .grad_flops_per_s = kernel.backward * rate,
                 .start = kernel.start,
                 .grad_start = kernel.start_backward};
}

OpTime attention_time(const graph::NodeView& v, const graph::Work& work, const Context& context) {
  static const SmoothMax kOverlap(2);
  const bool backward = v.node.kind == Kind::AttentionGrad;
  const graph::Extent& query = v.in(backward ? 1 : 0);
  const graph::Extent& key = v.in(backward ? 2 : 1);
  const Attention& rates = context.attention;
  const double head = std::ceil(static_cast<double>(query[3]) / kStep) * kStep;
  const double tiles =
      static_cast<double>(query[0] * query[1]) * std::ceil(static_cast<double>(query[2]) / kRows);
  const double keys = static_cast<double>(key[2]) + (backward ? rates.grad_start : rates.start);
  // Two products forward, five backward.
  double flops = occupied(tiles, context.sms, 1) * (backward ? 10 : 4) * kRows * keys * head;
  if (v.attr(Attr::Causal, 0) != 0) flops /= 2;
  const double rate = (backward ? rates.grad_flops_per_s : rates.flops_per_s) * head_share(head);
  const double compute = flops / rate;
  const double memory = (work.read_bytes + work.written_bytes) / context.memory_bytes_per_s;
  const int kernels = backward ? 3 : 1;
  return {Seconds{kOverlap(compute, memory) + kernels * context.launch_s}, Seconds{compute},
          Seconds{memory}, kernels};
}

}  // namespace foretrain::cost
