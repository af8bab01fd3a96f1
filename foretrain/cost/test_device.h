// SPDX-License-Identifier: Apache-2.0
// Devices and constants that this folder's tests compute with.
#pragma once

#include <fstream>
#include <sstream>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/make_context.h"
#include "foretrain/cost/framework_file.h"

namespace foretrain::cost {

// Constants of the tests alone: fitting those in use anew changes no expectation.
inline const OperatorModel& test_model() {
  static const OperatorModel kModel = [] {
    const std::string file = "foretrain/cost/test_constants.json";
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return make_operator_model(read_constants(text.str(), file));
  }();
  return kModel;
}

inline const std::vector<Framework>& known_frameworks() {
  static const std::vector<Framework> kKnown = [] {
    const std::string file = "data/predictors/frameworks.json";
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return read_frameworks(text.str(), file);
  }();
  return kKnown;
}

inline const Framework& framework_named(const std::string& name) {
  return framework_named(known_frameworks(), name);
}

// Round numbers and no power limit: 10 TFLOP/s, 100 in fp16, 1 TB/s of which 0.87 is sustained,
// 10 multiprocessors, no cache.
inline hw::Device round_device() {
  hw::Device device;
  device.name = "round";
  device.vendor = "nvidia";
  device.fp32_flops_per_s = 10e12;
  device.tensor_fp16_flops_per_s = 100e12;
  device.tensor_bf16_flops_per_s = 100e12;
  device.tensor_tf32_flops_per_s = 50e12;
  device.memory_bytes = 16e9;
  device.memory_bytes_per_s = 1e12;
  device.memory_type = "hbm2e";
  device.sms = 10;
  return device;
}

inline hw::Device v100() {
  hw::Device device;
  device.name = "v100-sxm2-16gb";
  device.vendor = "nvidia";
  device.architecture = "volta";
  device.fp32_flops_per_s = 15.7e12;
  device.fp16_flops_per_s = 31.4e12;
  device.tensor_fp16_flops_per_s = 125e12;
  device.memory_bytes = 16e9;
  device.memory_bytes_per_s = 900e9;
  device.memory_type = "hbm2";
  device.sms = 80;
  device.l2_bytes = 6.0 * 1024 * 1024;
  device.tdp_w = 300;
  device.process = "12nm";
  return device;
}

inline hw::Device test_cpu() {
  hw::Device device;
  device.name = "cpu";
  device.vendor = "cpu";
  device.architecture = "x86";
  device.fp32_flops_per_s = 100e9;
  device.memory_bytes = 8e9;
  device.memory_bytes_per_s = 10e9;
  device.memory_type = "ddr4";
  return device;
}

}  // namespace foretrain::cost
