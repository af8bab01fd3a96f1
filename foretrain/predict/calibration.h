// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "foretrain/hw/cluster.h"

namespace foretrain {

// How much faster one machine is than its datasheet and the operator model say: factors of speed,
// found by `foretrain fit calibration` from a few measured steps.
struct Calibration {
  std::string device;  // the catalog's name; other devices are left as they are
  double compute = 1;  // arithmetic
  double memory = 1;   // bandwidth of device memory
  double host = 1;
  double network = 1;  // bandwidth of links, where such a device is at their ends
};

inline constexpr const char* kCalibrationFormat = "foretrain-calibration";

// Throws Error(BadInput) naming `where`.
Calibration read_calibration(std::string_view text, const std::string& where);
std::string write_calibration(const Calibration& calibration, std::span<const std::string> notes);

// Changes the device and, if the cluster has no other, its links. Returns whether it is there.
bool calibrate(const Calibration& calibration, hw::Cluster& cluster);

}  // namespace foretrain
