// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/precision.h"

namespace foretrain::hw {

// A device that computes, as its datasheet describes it. Peaks are dense (no sparsity) and at
// the boost clock; tensor peaks are those with fp32 accumulation. Absent = the device has none.
struct Device {
  std::string name{};           // "v100-sxm2-16gb"
  std::string vendor{};         // "nvidia", "amd", "cpu", or what a user's file says
  std::string architecture{};   // "kepler", "maxwell", "pascal", "volta", "turing", "ampere",
                                // "ada", "hopper", "blackwell", "cdna2", ..., "x86"
  double fp32_flops_per_s = 0;  // vector units
  std::optional<double> fp64_flops_per_s{};  // vector units
  std::optional<double> fp16_flops_per_s{};  // vector units
  std::optional<double> tensor_fp16_flops_per_s{};
  std::optional<double> tensor_bf16_flops_per_s{};
  std::optional<double> tensor_tf32_flops_per_s{};
  std::optional<double> tensor_fp8_flops_per_s{};
  std::optional<double> tensor_fp32_flops_per_s{};  // AMD's matrix cores take fp32 as it is
  std::optional<double> tensor_fp64_flops_per_s{};
  std::optional<double> boost_clock_hz{};
  double memory_bytes = 0;  // the datasheet's capacity; see usable_memory_bytes
  double memory_bytes_per_s = 0;
  std::string memory_type{};  // "gddr5", "gddr6", "gddr6x", "hbm2", "hbm2e", "hbm3", "ddr4", ...
  std::optional<double> ecc_bytes{};  // of memory_bytes, what error correction takes by default
  int sms = 1;                        // streaming multiprocessors, compute units or cores
  double core_share = 1;              // of its one core, where a CPU has less
  int fp32_cores_per_sm = 64;
  double l2_bytes = 0;  // the last cache before memory
  double tdp_w = 0;
  std::string process{};     // "28nm", "16nm", "12nm", "8nm", "7nm", "4n"
  std::string intra_node{};  // how such devices are joined inside a node unless said: a link's name
  std::string host_link{};   // to the host: "pcie3-x16"
  bool pcie_peer_access = true;  // false: the driver refuses copies between devices over PCIe
  std::optional<double> sustained_gemm_flops_per_s{};  // measured fp32 rate, where a user gave one
  std::optional<double> context_bytes{};       // memory that driver and libraries take, where known
  std::optional<double> price_per_hour_usd{};  // of one device in its cheapest cloud instance
};

bool is_cpu(const Device& device);

// Memory that programs can allocate from: the capacity less what error correction takes.
double usable_memory_bytes(const Device& device);

// Peak of GEMMs in `precision`; absent where the device cannot (bf16 on Volta).
// Half precision without tensor cores runs at the vector rate, or at that of fp32 where the
// 16-bit one is slower (Pascal's 1/64): libraries then convert and compute in fp32.
std::optional<double> matrix_peak(const Device& device, Precision precision);

// Reads a device that a user describes, `text` being a JSON object. Fields are those of Device;
// a value is plain or {"value": ..., "source": "..."}. Required: name, fp32_flops_per_s,
// memory_bytes, memory_bytes_per_s. What else is missing is taken from the architecture's
// habits, each such choice added to `assumptions`. `where` begins every message ("file x.json").
// Throws Error(BadInput) for unknown fields and for values that no device has.
Device parse_device(std::string_view text, const std::string& where,
                    std::vector<std::string>* assumptions);

}  // namespace foretrain::hw
