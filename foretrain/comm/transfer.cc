// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/detail/transfer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace foretrain::comm {

Seconds transfer_time(double bytes, const Link& link) {
  assert(bytes >= 0 && link.bytes_per_s > 0 && link.ramp >= Seconds{0});
  const Seconds at_full_rate{bytes / link.bytes_per_s};
  if (at_full_rate == Seconds{0} || link.ramp == Seconds{0}) return at_full_rate;
  const double slower = 1 + std::pow(link.ramp / at_full_rate, link.ramp_exponent);
  const bool bound = link.least_share > 0;
  return at_full_rate * (bound ? std::min(slower, 1 / link.least_share) : slower);
}

Seconds steps_time(double steps, double bytes, const Link& link) {
  if (steps == 0) return Seconds{0};
  return link.launch + steps * link.latency + transfer_time(bytes, link);
}

}  // namespace foretrain::comm
