// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/device.h"

#include <algorithm>

namespace foretrain::hw {

bool is_cpu(const Device& device) { return device.vendor == "cpu"; }

double usable_memory_bytes(const Device& device) {
  return device.memory_bytes - device.ecc_bytes.value_or(0);
}

std::optional<double> matrix_peak(const Device& device, Precision precision) {
  switch (precision) {
    case Precision::Fp32:
      return std::max(device.fp32_flops_per_s, device.tensor_fp32_flops_per_s.value_or(0));
    case Precision::Tf32:
      return device.tensor_tf32_flops_per_s;
    case Precision::Fp16:
      if (device.tensor_fp16_flops_per_s) return device.tensor_fp16_flops_per_s;
      return std::max(device.fp32_flops_per_s, device.fp16_flops_per_s.value_or(0));
    case Precision::Bf16:
      return device.tensor_bf16_flops_per_s;
    case Precision::Fp8:
      return device.tensor_fp8_flops_per_s;
    case Precision::Fp64:
      return device.tensor_fp64_flops_per_s ? device.tensor_fp64_flops_per_s
                                            : device.fp64_flops_per_s;
  }
  return std::nullopt;
}

}  // namespace foretrain::hw
