// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/hw/link.h"

namespace foretrain {

// What a job keeps in its host's memory, and how a device reaches that.
struct Offload {
  enum class What { Nothing, Optimizer, Activations };
  What what = What::Nothing;
  hw::Link link;                  // between a device and its host; the slowest where they differ
  double memory_bytes_per_s = 0;  // of the host, one device's share
  double least_bytes = 0;         // of one sample's tensor that is worth a copy
  std::string assumption;         // what was taken for granted; "" where nothing is offloaded
};

}  // namespace foretrain
