// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/host.h"

namespace foretrain::hw {

double usual_host_speed(const AssumedHost& host, const std::string& architecture) {
  const auto found = host.speeds.find(architecture);
  return found == host.speeds.end() ? 1 : found->second;
}

}  // namespace foretrain::hw
