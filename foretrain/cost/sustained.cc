// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/sustained.h"

#include <algorithm>
#include <cmath>

namespace foretrain::cost {
namespace {

constexpr double kTera = 1e12;

// Watts per TFLOP/s of fp32 on vector units. Fitted on NeuSight split=train fp32 products of
// P4, P100, V100, T4, A100-40; Ada and Hopper from the RTX 4090's datasheet, CDNA (matrix
// units) from the MI100's; GA10x a guess.
double vector_power(Generation generation) {
  switch (generation) {
    case Generation::AmpereLarge:
      return 15;
    case Generation::Cdna:
      return 6.5;
    case Generation::AmpereSmall:
      return 13;
    case Generation::Ada:
    case Generation::Hopper:
    case Generation::Blackwell:
    case Generation::Other:
      return 5.5;
    default:
      return 17;
  }
}

// Share of the fp32 peak that products reach with power to spare: 64 and 128 cores per SM from
// NeuSight as above; Kepler and Maxwell from the dense layers and convolutions of Justus et al.;
// CDNA set as the 128 cores are, after NeuSight's MI100 and MI210 rows had been seen.
double vector_cap(const hw::Device& device, Generation generation) {
  if (generation == Generation::Kepler) return 0.35;
  if (generation == Generation::Maxwell) return 0.83;
  if (generation == Generation::Cdna) return 0.76;
  return device.fp32_cores_per_sm > 64 ? 0.76 : 1.0;
}

// Watts per TFLOP/s of 16-bit products on matrix units. 7 nm and 4N fitted on MosaicML's MPT
// throughput tables; 12 nm and 8 nm are guesses, and AMD's 7 and 6 nm are taken as NVIDIA's 7.
double tensor_power(Generation generation) {
  switch (generation) {
    case Generation::AmpereLarge:
    case Generation::Cdna:
      return 1.385;
    case Generation::AmpereSmall:
      return 1.5;
    case Generation::Ada:
    case Generation::Hopper:
    case Generation::Blackwell:
    case Generation::Other:
      return 0.975;
    default:
      return 2.6;
  }
}

// Watts per flop/s against 16-bit products. FP8 fitted on MosaicML's H100 tables.
double precision_power(Precision precision) {
  if (precision == Precision::Fp8) return 0.517;
  if (precision == Precision::Tf32) return 2;
  return 1;
}

double tenth_power(double x) {
  const double x2 = x * x;
  const double x4 = x2 * x2;
  return x4 * x4 * x2;
}

}  // namespace

Generation generation_of(const hw::Device& device) {
  struct Row {
    std::string_view name;
    Generation generation;
  };
  static constexpr Row kRows[] = {
      {"kepler", Generation::Kepler}, {"maxwell", Generation::Maxwell},
      {"pascal", Generation::Pascal}, {"volta", Generation::Volta},
      {"turing", Generation::Turing}, {"ada", Generation::Ada},
      {"hopper", Generation::Hopper}, {"blackwell", Generation::Blackwell},
  };
  for (const Row& row : kRows) {
    if (device.architecture == row.name) return row.generation;
  }
  if (device.architecture == "ampere") {
    return device.fp32_cores_per_sm > 64 ? Generation::AmpereSmall : Generation::AmpereLarge;
  }
  if (device.architecture.starts_with("cdna")) return Generation::Cdna;
  return Generation::Other;
}

double power_limited(double peak_flops_per_s, double cap, double tdp_w, double w_per_flops) {
  const double cool = cap * peak_flops_per_s;
  if (tdp_w <= 0 || w_per_flops <= 0 || cool <= 0) return cool;
  const double hot = tdp_w / w_per_flops;
  const double ratio = std::min(cool, hot) / std::max(cool, hot);
  return std::min(cool, hot) * std::pow(1 + tenth_power(ratio), -0.1);
}

double sustained_fp32(const hw::Device& device) {
  if (device.sustained_gemm_flops_per_s) return *device.sustained_gemm_flops_per_s;
  const Generation generation = generation_of(device);
  const double peak = hw::matrix_peak(device, Precision::Fp32).value_or(device.fp32_flops_per_s);
  return power_limited(peak, vector_cap(device, generation), device.tdp_w,
                       vector_power(generation) / kTera);
}

double sustained_conv_fp32(const hw::Device& device) {
  // Fitted on whole CNN steps of 32 torchvision models on four consumer GPUs.
  constexpr double kCap = 0.988;
  // T4's own in NeuSight's convolutions, 12.5 W per TFLOP/s, against its products' 17.
  constexpr double kPower = 12.5 / 17;
  const Generation generation = generation_of(device);
  const bool old = generation == Generation::Kepler || generation == Generation::Maxwell;
  const double cap = old ? vector_cap(device, generation) : kCap;
  const double peak = device.fp32_flops_per_s;
  if (device.sustained_gemm_flops_per_s) {
    return std::min(cap * peak, *device.sustained_gemm_flops_per_s / kPower);
  }
  return power_limited(peak, cap, device.tdp_w, kPower * vector_power(generation) / kTera);
}

double sustained_tensor(const hw::Device& device, Precision precision, double cap) {
  std::optional<double> peak;
  switch (precision) {
    case Precision::Tf32:
      peak = device.tensor_tf32_flops_per_s;
      break;
    case Precision::Fp8:
      peak = device.tensor_fp8_flops_per_s;
      break;
    case Precision::Bf16:
      peak = device.tensor_bf16_flops_per_s;
      break;
    case Precision::Fp16:
      peak = device.tensor_fp16_flops_per_s;
      break;
    default:
      break;
  }
  if (!peak) return 0;
  const double power = tensor_power(generation_of(device)) * precision_power(precision) / kTera;
  return power_limited(*peak, cap, device.tdp_w, power);
}

double tensor_share(const hw::Device& device) {
  const double peak = device.tensor_fp16_flops_per_s.value_or(0);
  if (peak <= 0) return 1;
  return sustained_tensor(device, Precision::Fp16, 0.86) / peak;
}

double bandwidth_share(const hw::Device& device) {
  // Fitted on NeuSight split=train element-wise rows of P4, P100, V100, T4, A100-40.
  if (hw::is_cpu(device)) return 0.9;  // the rest of STREAM's own patterns; assumed
  if (!device.memory_type.starts_with("hbm")) return 0.76;
  switch (generation_of(device)) {
    case Generation::Pascal:
      return 0.75;
    case Generation::Volta:
      return 0.91;
    case Generation::Cdna:  // likewise, MI100 and MI210
      return 0.82;
    default:
      return 0.87;
  }
}

}  // namespace foretrain::cost
