// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "foretrain/base/seconds.h"

namespace foretrain::cost {

// Time of one node on one device. `total` is what the device is busy; `compute` and `memory`
// are what arithmetic and memory traffic alone would take, so the larger one binds.
struct OpTime {
  Seconds total{0};
  Seconds compute{0};
  Seconds memory{0};
  int kernels = 0;  // 0: nothing is launched (a view)
  double unthrottled_share =
      1;  // of `compute`, what it would take if power did not limit the clock
};

// How a convolution on vector units is computed: the fastest way, or one that is known.
enum class ConvAlgorithm : std::uint8_t { Fastest, Implicit, FusedWinograd, UnfusedWinograd };

}  // namespace foretrain::cost
