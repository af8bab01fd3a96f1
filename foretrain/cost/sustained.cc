// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/sustained.h"

#include <algorithm>
#include <cmath>

namespace foretrain::cost {
namespace {

constexpr double kTera = 1e12;

// Watts per TFLOP/s of fp32 on vector units.
double vector_power(Generation generation, const PowerConstants& power) {
  switch (generation) {
    case Generation::AmpereLarge:
      return power.vector_ga100;
    case Generation::Cdna:
      return power.vector_cdna;
    case Generation::AmpereSmall:
      return power.vector_ga10x;
    case Generation::Ada:
    case Generation::Rdna:
    case Generation::Hopper:
    case Generation::Blackwell:
    case Generation::Other:
      return power.vector_new;
    default:
      return power.vector_old;
  }
}

// Share of the fp32 peak that GEMMs reach with power to spare.
double vector_cap(const hw::Device& device, Generation generation, const CapConstants& cap) {
  if (generation == Generation::Kepler) return cap.kepler;
  const bool gp10x = generation == Generation::Pascal && device.fp32_cores_per_sm > 64;
  if (generation == Generation::Maxwell || gp10x) return cap.maxwell;
  if (generation == Generation::Cdna) return cap.cdna;
  if (generation == Generation::Rdna) return cap.rdna;
  return device.fp32_cores_per_sm > 64 ? cap.cores_128 : cap.cores_64;
}

// Watts per TFLOP/s of 16-bit GEMM on tensor cores; AMD's 7 and 6 nm are taken as NVIDIA's 7.
double tensor_power(const hw::Device& device, const PowerConstants& power) {
  switch (generation_of(device)) {
    case Generation::Cdna: {
      const bool old = device.architecture == "cdna" || device.architecture == "cdna1" ||
                       device.architecture == "cdna2";
      return old ? power.tensor_ga100 : power.tensor_cdna3;
    }
    case Generation::AmpereLarge:
      return power.tensor_ga100;
    case Generation::AmpereSmall:
      return power.tensor_ga10x;
    case Generation::Blackwell:
      return power.tensor_blackwell;
    case Generation::Ada:
    case Generation::Rdna:
    case Generation::Hopper:
    case Generation::Other:
      return power.tensor_new;
    default:
      return power.tensor_old;
  }
}

// Watts per flop/s against half-precision GEMM.
double precision_power(Precision precision, const PowerConstants& power) {
  if (precision == Precision::Fp8) return power.fp8;
  if (precision == Precision::Tf32) return power.tf32;
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
  if (device.architecture.starts_with("rdna")) return Generation::Rdna;
  return Generation::Other;
}

double power_limited(double peak_flops_per_s, double cap, double tdp_w, double w_per_flops) {
  const double cool = cap * peak_flops_per_s;
  if (tdp_w <= 0 || w_per_flops <= 0 || cool <= 0) return cool;
  const double hot = tdp_w / w_per_flops;
  const double ratio = std::min(cool, hot) / std::max(cool, hot);
  return std::min(cool, hot) * std::pow(1 + tenth_power(ratio), -0.1);
}

double sustained_fp32(const hw::Device& device, const Constants& c) {
  if (device.sustained_gemm_flops_per_s) return *device.sustained_gemm_flops_per_s;
  const Generation generation = generation_of(device);
  const double peak = hw::matrix_peak(device, Precision::Fp32).value_or(device.fp32_flops_per_s);
  return power_limited(peak, vector_cap(device, generation, c.cap), device.tdp_w,
                       vector_power(generation, c.power) / kTera);
}

double sustained_conv_fp32(const hw::Device& device, double choice, const Constants& c) {
  const Generation generation = generation_of(device);
  const bool old = generation == Generation::Kepler || generation == Generation::Maxwell ||
                   generation == Generation::Rdna;
  const double cap = choice * (old ? vector_cap(device, generation, c.cap) : c.cap.conv);
  const double peak = device.fp32_flops_per_s;
  if (device.sustained_gemm_flops_per_s) {
    return std::min(cap * peak, *device.sustained_gemm_flops_per_s / c.power.conv);
  }
  return power_limited(peak, cap, device.tdp_w,
                       c.power.conv * vector_power(generation, c.power) / kTera);
}

double sustained_conv_fp64(const hw::Device& device, double choice, const Constants& c) {
  constexpr double kEnergy = 2;  // of an fp64 instruction against one of fp32
  const double share = fp64_share(device, c);
  const Generation generation = generation_of(device);
  if (device.sustained_gemm_flops_per_s || generation == Generation::Kepler) {
    return c.cap.fp64_conv * share * sustained_conv_fp32(device, choice, c);
  }
  const double power = kEnergy * c.power.conv * vector_power(generation, c.power) / kTera;
  return c.cap.fp64_conv *
         power_limited(share * device.fp32_flops_per_s, choice * c.cap.conv, device.tdp_w, power);
}

double sustained_tensor(const hw::Device& device, Precision precision, double cap,
                        const Constants& c) {
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
  const double power = tensor_power(device, c.power) * precision_power(precision, c.power) / kTera;
  // At half the rate what feeds the cores has room for operands of four bytes.
  // At half the rate what feeds the cores has room for operands of four bytes.
  if (precision == Precision::Tf32 && half_rate_cap(device, c) < cap) cap *= c.cap.tf32;
  return power_limited(*peak, cap, device.tdp_w, power);
}

bool wide_multiprocessors(const hw::Device& device) {
  const Generation generation = generation_of(device);
  return device.fp32_cores_per_sm > 64 &&
         (generation == Generation::AmpereSmall || generation >= Generation::Ada);
}

double half_rate_cap(const hw::Device& device, const Constants& c) {
  constexpr double kHalved = 2;  // 16-bit tensor peak against fp32 where sums are at half the rate
  const double tensor = device.tensor_fp16_flops_per_s.value_or(0);
  if (!wide_multiprocessors(device) || tensor <= 0) return 0;
  return c.cap.tensor_half_rate * std::min(1.0, kHalved * device.fp32_flops_per_s / tensor);
}

double tensor_cap(const hw::Device& device, double usual, const Constants& c) {
  return std::max(usual, half_rate_cap(device, c));
}

double tensor_share(const hw::Device& device, const Constants& c) {
  const double peak = device.tensor_fp16_flops_per_s.value_or(0);
  if (peak <= 0) return 1;
  return sustained_tensor(device, Precision::Fp16, tensor_cap(device, c.cap.tensor, c), c) / peak;
}

double fp64_share(const hw::Device& device, const Constants& c) {
  if (!device.fp64_flops_per_s || device.fp32_flops_per_s <= 0) return c.cap.fp64;
  return *device.fp64_flops_per_s / device.fp32_flops_per_s;
}

double bandwidth_share(const hw::Device& device, const Constants& c) {
  if (hw::is_cpu(device)) return c.bandwidth.cpu;
  const Generation generation = generation_of(device);
  const bool recent = device.memory_type == "gddr6x" || generation == Generation::AmpereSmall ||
                      generation == Generation::Ada || generation == Generation::Blackwell;
  const bool checked = device.ecc_bytes.has_value();
  if (device.memory_type.starts_with("gddr") && recent && !checked) return c.bandwidth.gddr6x;
  if (!device.memory_type.starts_with("hbm")) return c.bandwidth.gddr;
  switch (generation) {
    case Generation::Pascal:
      return c.bandwidth.pascal;
    case Generation::Volta:
      return c.bandwidth.volta;
    case Generation::Cdna:
      return c.bandwidth.cdna;
    default:
      return c.bandwidth.hbm;
  }
}

}  // namespace foretrain::cost
