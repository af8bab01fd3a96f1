// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "foretrain/base/precision.h"

namespace foretrain::hw {

// A device that computes, as its datasheet describes it. Peaks are dense (no sparsity) and at
// the boost clock; tensor peaks are those with fp32 accumulation. Absent = the device has none.
struct Device {
  std::string name;          // "v100-sxm2-16gb"
  std::string vendor;        // "nvidia", "amd", "cpu"
  std::string architecture;  // "kepler", "maxwell", "pascal", "volta", "turing", "ampere",
                             // "ada", "hopper", "blackwell", "cdna2", ..., "x86"
  double fp32_flops_per_s = 0;
  std::optional<double> fp64_flops_per_s;
  std::optional<double> fp16_flops_per_s;  // vector units
  std::optional<double> tensor_fp16_flops_per_s;
  std::optional<double> tensor_bf16_flops_per_s;
  std::optional<double> tensor_tf32_flops_per_s;
  std::optional<double> tensor_fp8_flops_per_s;
  double memory_bytes = 0;
  double memory_bytes_per_s = 0;
  std::string memory_type;  // "gddr5", "gddr6", "gddr6x", "hbm2", "hbm2e", "hbm3", "ddr4", ...
  int sms = 1;              // streaming multiprocessors, compute units or cores
  int fp32_cores_per_sm = 64;
  double l2_bytes = 0;
  double tdp_w = 0;
  std::string process;     // "28nm", "16nm", "12nm", "8nm", "7nm", "4n"
  std::string intra_node;  // how such devices are joined inside a node unless said: a link's name
  std::string host_link;   // to the host: "pcie3-x16"
  std::optional<double> sustained_gemm_flops_per_s;  // measured fp32 rate, where a user gave one
  std::optional<double> context_bytes;  // memory that driver and libraries take, where known
  std::optional<double> price_per_hour_usd;  // typical on-demand cloud price of one device
};

bool is_cpu(const Device& device);

// Peak of matrix products in `precision`; absent where the device cannot (bf16 on Volta).
std::optional<double> matrix_peak(const Device& device, Precision precision);

}  // namespace foretrain::hw
