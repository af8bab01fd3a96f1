// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/attention.h"

#include <algorithm>
#include <cmath>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/gemm.h"
#include "foretrain/cost/detail/sustained.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;

// Shares of the 16-bit tensor peak forward and backward, keys that starting costs likewise.
using Kernel = std::array<double, 4>;

// Beside its products a tile computes a softmax on vector units. Where tensor cores do fewer flops
// per clock and multiprocessor than GA100's 2048, that takes less of the time:
//
//   1 / share = 1 + (1 / share of GA100 - 1) flops / 2048
//
// Source of the rates: NVIDIA's A100 and GA102 whitepapers (1024; 512 with sums in fp32).
double beside_softmax(double share, const hw::Device& device) {
  constexpr double kLargest = 2048;
  const double flops = 2.0 * device.fp32_cores_per_sm * *device.tensor_fp16_flops_per_s /
                       std::max(1.0, device.fp32_flops_per_s);
  return 1 / (1 + (1 / share - 1) * std::min(1.0, flops / kLargest));
}

// Kernels for Hopper and Blackwell use what their boards with HBM alone have.
Kernel kernel_of(Flash flash, const Context& context, const AttentionConstants& constants) {
  const hw::Device& device = *context.device;
  const bool newer =
      context.generation >= Generation::Hopper && device.memory_type.starts_with("hbm");
  if (newer && flash == Flash::One) return constants.one_new;
  if (newer) return flash == Flash::Two ? constants.two_new : constants.three;
  Kernel kernel = flash == Flash::One ? constants.one : constants.two;
  if (!context.wide_sms) return kernel;
  for (auto& one : kernel) one = beside_softmax(one, device);
  return kernel;
}

constexpr double kRows = 128;  // queries per tile
constexpr double kStep = 32;   // head sizes are padded to multiples

// Heads other than 128 wide: shares of the rate.
double head_share(double head, const AttentionConstants& constants) {
  if (head <= 64) return constants.small_head;
  return head <= 128 ? 1 : constants.wide_head;
}

}  // namespace

void set_attention_rates(Context& c, const hw::Device& device) {
  const bool wide = c.precision == Precision::Fp32 || c.precision == Precision::Fp64;
  const double peak = device.tensor_fp16_flops_per_s.value_or(0);
  const Constants& constants = c.model->constants;
  Kernel kernel = constants.attention.vector;
  double rate = c.gemm_flops_per_s;
  if (!wide && peak > 0) {
    kernel = kernel_of(c.framework->flash, c, constants.attention);
    rate = peak * std::min(1.0, tensor_share(device, constants) / constants.attention.power_share);
    if (c.precision == Precision::Tf32) rate /= 2;
  }
  c.attention = {.flops_per_s = kernel[0] * rate,
                 .grad_flops_per_s = kernel[1] * rate,
                 .start = kernel[2],
                 .grad_start = kernel[3]};
}

OpTime attention_time(const graph::NodeView& v, const graph::Work& work, const Context& context) {
  const bool backward = v.node.kind == Kind::AttentionGrad;
  const graph::Extent& query = v.in(backward ? 1 : 0);
  const graph::Extent& key = v.in(backward ? 2 : 1);
  const Attention& rates = context.attention;
  const double head = std::ceil(static_cast<double>(query[3]) / kStep) * kStep;
  const double tiles =
      static_cast<double>(query[0] * query[1]) * std::ceil(static_cast<double>(query[2]) / kRows);
  const double keys = static_cast<double>(key[2]) + (backward ? rates.grad_start : rates.start);
  // Two GEMMs forward, five backward.
  double flops = occupied(tiles, context.sms, 1) * (backward ? 10 : 4) * kRows * keys * head;
  if (v.attr(Attr::Causal, 0) != 0) flops /= 2;
  const double rate = (backward ? rates.grad_flops_per_s : rates.flops_per_s) *
                      head_share(head, context.model->constants.attention);
  const double compute = flops / rate;
  const double memory = (work.read_bytes + work.written_bytes) / context.memory_bytes_per_s;
  const int kernels = backward ? 3 : 1;
  return {Seconds{context.model->attention(compute, memory) + kernels * context.launch_s},
          Seconds{compute}, Seconds{memory}, kernels};
}

}  // namespace foretrain::cost
