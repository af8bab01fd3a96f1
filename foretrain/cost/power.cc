// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "foretrain/cost/detail/families.h"

namespace foretrain::cost {
namespace {

// What the operator takes with power to spare.
Seconds unthrottled_time(const OpTime& time) {
  if (time.compute <= time.memory) return time.total;
  const Seconds faster = std::max(time.compute * time.unthrottled_share, time.memory);
  return time.total - (time.compute - faster);
}

// By how much arithmetic exceeds memory traffic: what a higher clock could save at most.
Seconds excess(const OpTime& time) { return std::max(time.compute - time.memory, Seconds{0}); }

// Share of the power limit that it draws.
double draw(const OpTime& time, double memory_bound) {
  if (time.compute >= time.memory) return 1;
  return memory_bound + (1 - memory_bound) * (time.compute / time.memory);
}

}  // namespace

void share_power(std::span<OpTime> step, const Context& context) {
  if (context.gemm_unthrottled_share >= 1 && context.conv_unthrottled_share >= 1) return;
  const double memory_bound = context.model->constants.power.memory_bound;
  Seconds now{0};
  Seconds average{0};
  Seconds cool{0};
  Seconds most{0};
  for (const OpTime& time : step) {
    now += time.total;
    average += time.total * draw(time, memory_bound);
    cool += unthrottled_time(time);
    most += excess(time);
  }
  const Seconds saved = now - std::max(average, cool);
  if (saved.count() <= 0) return;
  for (OpTime& time : step) {
    const Seconds part = saved * (excess(time) / most);
    time.total -= part;
    time.compute -= part;
  }
}

}  // namespace foretrain::cost
