// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain::hw {

// The machine that devices are built into, as far as work is handed to it.
struct Host {
  double memory_bytes_per_s = 0;   // that all its devices share
  double copy_share = 1;           // of a link's nominal rate, which copies to and from it reach
  double least_offload_bytes = 0;  // of one sample's tensor: smaller ones stay on the device
};

// The host where nobody describes it: data/hardware/assumed/host.json, which has the sources.
Host assumed_host();

}  // namespace foretrain::hw
