// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/link.h"

#include <algorithm>

namespace foretrain::hw {

double node_bytes_per_s(const Link& link) {
  const double reached = link.efficiency * link.bytes_per_s;
  return link.nics * std::min(reached, link.flow_cap_bytes_per_s.value_or(reached));
}

}  // namespace foretrain::hw
