// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::profile {

// How a recording is read.
struct ReadOptions {
  std::optional<Seconds> interval{};      // of files that have no times (dmon); default 1 s
  std::vector<std::string> interfaces{};  // of sar; empty: all but lo
  std::optional<int> gpu{};               // index; absent: of several the busiest
  // Told now and then: bytes that were read so far.
  std::function<void(std::size_t bytes)> on_read{};
};

}  // namespace foretrain::profile
