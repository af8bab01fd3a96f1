// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/attention.h"

#include <algorithm>
#include <cmath>

#include "foretrain/cost/families.h"
#include "foretrain/cost/smooth_max.h"
#include "foretrain/cost/sustained.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;

// Share of the 16-bit tensor peak, forward and backward.
struct Shares {
  double forward;
  double backward;
};

// Fitted on MosaicML's MPT tables (first and second generation, A100 and H100). The third
// also ramps up with the length.
Shares shares_of(Flash flash, Generation generation) {
  const bool newer = generation >= Generation::Hopper;
  if (flash == Flash::One) return newer ? Shares{0.205, 0.164} : Shares{0.388, 0.310};
  if (!newer) return {0.60, 0.48};
  if (flash == Flash::Two) return {0.387, 0.31};
  return {0.67, 0.53};
}

// Half-lengths of the third generation's ramp, tokens.
constexpr double kRamp = 600;
constexpr double kRampBackward = 700;
// Below this share of the peak power limits attention as well.
constexpr double kPowerShare = 0.70;
// Without matrix units: shares of the sustained fp32 rate of products.
constexpr Shares kVectorShares{0.5, 0.4};

}  // namespace

void set_attention_rates(Context& c, const hw::Device& device) {
  const Shares shares = shares_of(c.framework->flash, c.generation);
  const bool wide = c.precision == Precision::Fp32 || c.precision == Precision::Fp64;
  const double peak = device.tensor_fp16_flops_per_s.value_or(0);
  if (wide || peak <= 0) {
    c.attention_flops_per_s = kVectorShares.forward * c.gemm_flops_per_s;
    c.attention_grad_flops_per_s = kVectorShares.backward * c.gemm_flops_per_s;
    return;
  }
  const double power = std::min(1.0, tensor_share(device) / kPowerShare);
  // TF32 halves the rate.
  const double rate = peak * power * (c.precision == Precision::Tf32 ? 0.5 : 1);
  c.attention_flops_per_s = shares.forward * rate;
  c.attention_grad_flops_per_s = shares.backward * rate;
}

OpTime attention_time(const graph::NodeView& v, const graph::Work& work, const Context& context) {
  static const SmoothMax overlap(2);
  const bool backward = v.node.kind == Kind::AttentionGrad;
  const graph::Extent& query = v.in(backward ? 1 : 0);
  const graph::Extent& key = v.in(backward ? 2 : 1);
  double rate = backward ? context.attention_grad_flops_per_s : context.attention_flops_per_s;
  if (query[3] <= 64) rate *= 0.9;
  double flops = work.flops;
  if (v.attr(Attr::Causal, 0) != 0) flops /= 2;
  double start = 0;  // tokens
  if (context.framework->flash == Flash::Three && context.generation >= Generation::Hopper) {
    start = backward ? kRampBackward : kRamp;
  }
  const auto length = static_cast<double>(key[2]);
  const double compute = flops * (length + start) / (length * rate);
  const double memory = (work.read_bytes + work.written_bytes) / context.memory_bytes_per_s;
  const int kernels = backward ? 3 : 1;
  return {Seconds{overlap(compute, memory) + kernels * context.launch_s}, Seconds{compute},
          Seconds{memory}, kernels};
}

}  // namespace foretrain::cost
