// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/detail/targets.h"

#include <array>

namespace foretrain {
namespace {

// The parts stay in proportion, so that they still add up.
void set_step(Report& report, const Estimate& estimate) {
  const double scale = estimate.value / report.step_time_s.value;
  Breakdown& parts = report.breakdown;
  for (Seconds* part :
       {&parts.compute, &parts.memory, &parts.exposed_communication, &parts.host, &parts.bubble,
        &parts.input, &report.phases.forward, &report.phases.backward, &report.phases.update}) {
    *part *= scale;
  }
  report.step_time_s = estimate;
}

void set_peak(Report& report, const Estimate& estimate) {
  report.memory.peak = estimate.value;
  report.memory.fits = estimate.value <= report.memory.capacity;
}

constexpr std::array kTargets{
    TargetName{"step_time_s", "step_time_s", set_step},
    TargetName{"memory_bytes.peak", "memory_bytes", set_peak},
};

}  // namespace

std::span<const TargetName> target_names() { return kTargets; }

}  // namespace foretrain
