// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/profile/gpu_facts.h"

namespace foretrain::profile {

// A network card that is not the loopback.
struct NicFacts {
  std::string name;                   // "eth0"
  std::optional<double> bytes_per_s;  // absent where the driver does not know, as virtual ones
  bool up = false;
  bool physical = false;  // has a device behind it: no bridge, tunnel or virtual pair
};

// The machine that this runs on.
struct Machine {
  std::string cpu;  // the first core's model
  int threads = 0;  // logical processors
  int cores = 0;    // physical ones; as many as threads where the kernel does not say
  int sockets = 1;
  double memory_bytes = 0;
  std::vector<GpuFacts> gpus;
  std::vector<NicFacts> nics;  // by name
};

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// Reads /proc and /sys below `root`, and asks NVML where it is installed.
Machine local_machine(const std::string& root = "/", const std::string& nvml = kNvmlLibrary);

}  // namespace foretrain::profile
