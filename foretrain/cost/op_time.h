// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "foretrain/base/precision.h"
#include "foretrain/base/seconds.h"
#include "foretrain/cost/constants.h"
#include "foretrain/cost/framework.h"
#include "foretrain/graph/op.h"
#include "foretrain/hw/device.h"

namespace foretrain::cost {

// Time of one node on one device. `total` is what the device is busy; `compute` and `memory`
// are what arithmetic and memory traffic alone would take, so the larger one binds.
struct OpTime {
  Seconds total{0};
  Seconds compute{0};
  Seconds memory{0};
  int kernels = 0;        // 0: nothing is launched (a view)
  double cool_share = 1;  // of `compute`, what it would take if power did not limit the clock
};

// Families of GPUs whose libraries choose kernels alike. Unknown ones behave like the newest.
enum class Generation : std::uint8_t {
  Kepler,
  Maxwell,
  Pascal,
  Volta,
  Turing,
  AmpereLarge,  // 64 fp32 cores per SM: A100, A30
  AmpereSmall,  // 128
  Cdna,         // AMD's accelerators
  Ada,
  Hopper,
  Blackwell,
  Other,
};

// Fused attention: rates for heads of 128 values, and the keys per row that it costs to start.
struct Attention {
  double flops_per_s = 0;
  double grad_flops_per_s = 0;
  double start = 0;
  double grad_start = 0;
};

// Where the work runs. What every node of a step shares is computed once, by `context_for`.
// Rates are sustained ones: flop/s and bytes/s.
struct Context {
  const hw::Device* device = nullptr;
  const Framework* framework = nullptr;
  const OperatorModel* model = nullptr;
  Precision precision = Precision::Fp32;
  double matrix_flops_per_s = 0;  // sustained rate of products in `precision`
  double vector_flops_per_s = 0;  // sustained rate of fp32 arithmetic
  double memory_bytes_per_s = 0;  // sustained bandwidth

  Generation generation = Generation::Other;
  bool cpu = false;
  bool tensor_cores = false;  // products in `precision` run on matrix units
  double sms = 1;
  double l2_bytes = 0;
  double gemm_flops_per_s = 0;   // products on vector units
  double gemm_bytes_per_s = 0;   // likewise
  double short_flops_per_s = 0;  // 16-bit products on matrix units
  double short_bytes_per_s = 0;  // products on matrix units
  double conv_flops_per_s = 0;   // convolutions on vector units
  double conv_bytes_per_s = 0;
  double sm_cycles_per_s = 1;         // of all multiprocessors
  double blocks = 1;                  // of 512 threads that run at once
  double short_values_per_s = 0;      // 16-bit values that kernels convert; 0: no limit
  double conv_short_flops_per_s = 0;  // convolutions on matrix units
  double conv_short_bytes_per_s = 0;
  Attention attention{};
  double product_cool_share = 1;  // OpTime::cool_share of products and attention
  double conv_cool_share = 1;     // of convolutions
  double launch_s = 0;            // busy time that a small kernel adds
  double conv_launch_s = 0;       // likewise around convolutions
  bool repeated = false;  // an operator by itself, again and again: it finds its data in caches
};

// `model` must outlive the result.
Context context_for(const hw::Device& device, const Framework& framework, Precision precision,
                    const OperatorModel& model);

// The seam between hand-written and learned operator models: any callable of this form.
using OpTimer = std::function<OpTime(const graph::NodeView&, const graph::Work&, const Context&)>;

// The analytic model: tiles and waves for products, passes over memory for the rest.
OpTime analytic_time(const graph::NodeView& v, const graph::Work& work, const Context& context);

// Shortens the operators of one step on a device that its power limits: the limit holds for the
// average over many kernels, and those that stream memory draw less (constant power.stream).
//
//   T = max(sum of t p, sum of max(c', m))     p = s + (1 - s) min(1, c / m)
//
// t: an operator's time, c and m its compute and memory time, c' without the power limit. What is
// saved against the sum of t is taken from operators bound by arithmetic, in proportion to c - m.
void share_power(std::span<OpTime> step, const Context& context);

// Time that the host needs to issue a node, on the reference machine.
Seconds host_time(const graph::NodeView& v, const Context& context);

}  // namespace foretrain::cost
