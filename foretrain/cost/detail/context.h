// SPDX-License-Identifier: Apache-2.0
// What the operator model computes with. OperatorTimer makes a context and keeps it.
#pragma once

#include <cstdint>

#include "foretrain/base/precision.h"
#include "foretrain/cost/constants.h"
#include "foretrain/cost/framework.h"
#include "foretrain/hw/device.h"

namespace foretrain::cost {

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
  Rdna,         // AMD's graphics boards
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
  double matrix_flops_per_s = 0;  // sustained rate of GEMMs in `precision`
  double vector_flops_per_s = 0;  // sustained rate of fp32 arithmetic
  double memory_bytes_per_s = 0;  // sustained bandwidth

  Generation generation = Generation::Other;
  bool cpu = false;
  bool wide_sms = false;       // NVIDIA's multiprocessors of 128 fp32 cores, from GA10x on
  double half_rate_share = 0;  // of tensor cores' rate: what they reach at half of it, as GeForce
  bool tensor_cores = false;   // GEMMs in `precision` run on tensor cores
  double sms = 1;
  double l2_bytes = 0;
  double gemm_flops_per_s = 0;    // GEMMs on vector units
  double gemm_bytes_per_s = 0;    // likewise
  double half_flops_per_s = 0;    // 16-bit GEMM on tensor cores
  double tensor_bytes_per_s = 0;  // GEMM on tensor cores
  double conv_flops_per_s = 0;    // convolutions on vector units
  double conv_bytes_per_s = 0;
  double sm_cycles_per_s = 1;          // of all multiprocessors
  double blocks = 1;                   // of 512 threads that run at once
  double half_values_per_s = 0;        // 16-bit values that kernels convert; 0: no limit
  double tensor_conv_flops_per_s = 0;  // convolutions on tensor cores
  double tensor_conv_bytes_per_s = 0;
  bool tf32_convolutions = false;  // of fp32 tensors
  Attention attention{};
  double gemm_unthrottled_share = 1;  // OpTime::unthrottled_share of GEMMs and attention
  double conv_unthrottled_share = 1;  // of convolutions
  double launch_s = 0;                // busy time that a small kernel adds
  double conv_launch_s = 0;           // likewise around convolutions
  bool repeated = false;  // an operator by itself, again and again: it finds its data in caches
};

}  // namespace foretrain::cost
