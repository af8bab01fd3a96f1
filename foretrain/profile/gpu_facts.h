// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foretrain::profile {

struct GpuFacts {
  std::string name;         // as the vendor's library says; "" where it does not
  double memory_bytes = 0;  // 0: it does not say
};

}  // namespace foretrain::profile
