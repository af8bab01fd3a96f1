// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/transfer.h"

#include <cassert>
#include <cmath>

namespace foretrain::comm {

Seconds transfer_time(double bytes, const hw::Link& link) {
  assert(bytes >= 0 && link.bytes_per_s > 0 && link.ramp >= Seconds{0});
  const Seconds at_full_rate{bytes / link.bytes_per_s};
  if (at_full_rate == Seconds{0} || link.ramp == Seconds{0}) return at_full_rate;
  constexpr double kRampExponent = 0.66;
  return at_full_rate * (1 + std::pow(link.ramp / at_full_rate, kRampExponent));
}

}  // namespace foretrain::comm
