// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/knowledge/spread.h"
#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// How far the step's time can be trusted.
struct Trust {
  Estimate step;                      // with its interval, where there is one
  std::vector<std::string> warnings;  // where it lies outside of what was measured
  std::vector<std::string> assumptions;
};

Trust trust_in(const Stages& stages, const Resolved& resolved, const Regime& regime,
               const StepShares& shares);

// The interval of the peak and the probability that the job fits, of training on GPUs: nothing else
// was measured.
void trust_memory(const Resolved& resolved, const Regime& regime, MemoryReport& memory);

}  // namespace foretrain::operators
