// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/hw/cluster.h"

namespace foretrain {

// How much faster one machine is than its datasheet and the operator model say: factors of speed,
// found by `foretrain fit calibration` from a few measured steps.
struct Calibration {
  std::string device;  // the catalog's name, "cpu" for any number of cores; others are left alone
  double compute = 1;  // arithmetic
  double memory = 1;   // bandwidth of device memory
  double host = 1;     // of a CPU: what its operators' calls take
  double network = 1;  // bandwidth of links, where such a device is at their ends
  double input = 1;    // what delivers samples: rates of loaders and copies
  // Samples/s that one worker's input delivers where a request of one of `models` does not limit
  // it; 0: no limit was seen.
  double input_rate = 0;
  double startup_s = 0;  // of a whole job: until its first step begins, and after its last one
  std::vector<std::string> models{};  // that it was found by, so they are no test of it
};

inline constexpr const char* kCalibrationFormat = "foretrain-calibration";

// Throws Error(BadInput) naming `where`.
Calibration read_calibration(std::string_view text, const std::string& where);
std::string write_calibration(const Calibration& calibration, std::span<const std::string> notes);

// Whether the calibration is for a device of this name.
bool is_for(std::string_view device, const Calibration& calibration);

// Changes the device, if it is the calibration's.
void calibrate(const Calibration& calibration, hw::Device& device);

// Changes the device and, if the cluster has no other, its links. Returns whether it is there.
bool calibrate(const Calibration& calibration, hw::Cluster& cluster);

}  // namespace foretrain
