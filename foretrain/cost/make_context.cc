// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/make_context.h"

#include <algorithm>

#include "foretrain/cost/detail/attention.h"
#include "foretrain/cost/detail/sustained.h"

namespace foretrain::cost {
namespace {

// A rate that divisions can bear, whatever the device's file says.
double safe(double rate) { return std::max(rate, 1.0); }

// How near to the best algorithm convolutions come.
double conv_choice(const Context& c) {
  return c.framework->autotunes ? 1 : c.model->constants.conv.untuned;
}

// Threads that a multiprocessor holds. Source: CUDA C++ Programming Guide, compute capabilities.
double threads_per_sm(Generation generation) {
  switch (generation) {
    case Generation::Turing:
      return 1024;
    case Generation::AmpereSmall:
    case Generation::Ada:
      return 1536;
    default:
      return 2048;
  }
}

void set_vector_rates(Context& c, const hw::Device& device) {
  const Constants& k = c.model->constants;
  const double fp32 = safe(device.fp32_flops_per_s);
  c.vector_flops_per_s = safe(sustained_fp32(device, k));
  double scale = 1;  // in 16 bits too: sums are kept in fp32, at its rate
  if (c.precision == Precision::Fp64) {
    scale = hw::matrix_peak(device, Precision::Fp64).value_or(k.cap.fp64 * fp32) / fp32;
  }
  c.gemm_flops_per_s = c.vector_flops_per_s * scale;
  c.gemm_bytes_per_s = safe(k.bandwidth.gemm * device.memory_bytes_per_s);
  // No convolution takes fp64 to tensor cores.
  c.conv_flops_per_s =
      safe(c.precision == Precision::Fp64 ? sustained_conv_fp64(device, conv_choice(c), k)
                                          : sustained_conv_fp32(device, conv_choice(c), k));
  // Storing 16 bits without units for them costs conversions.
  const bool converts = c.precision == Precision::Fp16;
  const double half = device.fp16_flops_per_s.value_or(fp32);
  if (converts && c.generation == Generation::Rdna) {  // two of 16 bits in place of one of 32
    c.conv_flops_per_s *= half / fp32;
    c.gemm_flops_per_s *= half / fp32;
  } else if (converts && !device.tensor_fp16_flops_per_s) {
    c.conv_flops_per_s *= k.cap.converted;
  }
  if (half < fp32 && !device.tensor_fp16_flops_per_s) {
    c.half_values_per_s = safe(k.cap.half_values * half);
  }
  c.sm_cycles_per_s = fp32 / (2.0 * std::max(1, device.fp32_cores_per_sm));
  c.conv_bytes_per_s = k.bandwidth.conv * c.memory_bytes_per_s;
}

void set_tensor_rates(Context& c, const hw::Device& device) {
  const Constants& k = c.model->constants;
  const bool eight = c.precision == Precision::Fp8;
  const Precision sixteen = c.precision == Precision::Fp16 ? Precision::Fp16 : Precision::Bf16;
  c.tf32_convolutions = c.precision == Precision::Tf32 ||
                        (c.precision == Precision::Fp32 && c.framework->tf32_convolutions);
  const Precision conv = eight ? sixteen : c.tf32_convolutions ? Precision::Tf32 : c.precision;
  c.tensor_bytes_per_s = k.bandwidth.tensor * c.memory_bytes_per_s;
  const double cap = tensor_cap(device, k.cap.tensor, k);
  const double conv_cap = conv_choice(c) * tensor_cap(device, k.cap.tensor_conv, k);
  c.half_rate_share = half_rate_cap(device, k) / tensor_cap(device, k.cap.tensor_conv, k);
  c.half_flops_per_s = sustained_tensor(device, sixteen, cap, k);
  c.matrix_flops_per_s = sustained_tensor(device, c.precision, cap, k);
  c.tensor_conv_flops_per_s = sustained_tensor(device, conv, conv_cap, k);
  const bool channels_last = c.framework->channels_last && !c.tf32_convolutions;
  c.tensor_conv_bytes_per_s =
      (channels_last ? k.bandwidth.conv_channels_last : k.bandwidth.conv_nchw) *
      (device.memory_type == "gddr6x" ? k.bandwidth.conv_gddr6x : 1) * c.memory_bytes_per_s;
  c.tensor_cores = c.matrix_flops_per_s > 0;
  if (eight && c.half_flops_per_s <= 0) c.half_flops_per_s = c.matrix_flops_per_s;
}

// Sustained rates against those with power to spare.
void set_unthrottled_shares(Context& c, const hw::Device& device) {
  hw::Device cool = device;
  cool.tdp_w = 0;
  const Constants& k = c.model->constants;
  const bool wide = c.precision == Precision::Fp32 || c.precision == Precision::Fp64;
  if (device.sustained_gemm_flops_per_s || c.cpu) return;
  const double choice = conv_choice(c);
  if (wide || !c.tensor_cores) {
    c.gemm_unthrottled_share = sustained_fp32(device, k) / safe(sustained_fp32(cool, k));
    const auto conv = c.precision == Precision::Fp64 ? sustained_conv_fp64 : sustained_conv_fp32;
    c.conv_unthrottled_share = conv(device, choice, k) / safe(conv(cool, choice, k));
    return;
  }
  const double rate = sustained_tensor(cool, c.precision, tensor_cap(cool, k.cap.tensor, k), k);
  c.gemm_unthrottled_share = std::min(1.0, c.matrix_flops_per_s / safe(rate));
  c.conv_unthrottled_share = c.gemm_unthrottled_share;
}

}  // namespace

Context context_for(const hw::Device& device, const Framework& framework, Precision precision,
                    const OperatorModel& model) {
  Context c;
  c.model = &model;
  c.device = &device;
  c.framework = &framework;
  c.precision = precision;
  c.generation = generation_of(device);
  c.cpu = hw::is_cpu(device);
  c.wide_sms = wide_multiprocessors(device);
  c.sms = std::max(1, device.sms);
  c.blocks = c.sms * threads_per_sm(c.generation) / 512;
  c.l2_bytes = std::max(0.0, device.l2_bytes);
  c.launch_s = model.constants.launch.memory_bound;
  c.conv_launch_s = model.constants.launch.conv;
  c.memory_bytes_per_s = safe(bandwidth_share(device, model.constants) * device.memory_bytes_per_s);
  set_vector_rates(c, device);
  set_tensor_rates(c, device);
  if (!c.tensor_cores) c.matrix_flops_per_s = c.gemm_flops_per_s;
  set_unthrottled_shares(c, device);
  set_attention_rates(c, device);
  return c;
}

}  // namespace foretrain::cost
