// SPDX-License-Identifier: Apache-2.0
// The predicted step as a measured trace would show it: several steps, none like the other.
#pragma once

#include <cstdint>
#include <optional>

#include "foretrain/inspector/curves.h"

namespace foretrain::inspector {

// Real steps vary and have gaps between them. Without that, a gap of a predicted step lies always
// above or always below what smoothing removes, and two bursts merge always or never.
struct ReplayOptions {
  int replays = 6;       // averaged
  double jitter = 0;     // of durations: standard deviation over mean
  double operators = 0;  // of an operator's duration in one step: deviation of its logarithm
  double noise = 0;      // of memory activity in a window: standard deviation of its logarithm
  Seconds gap{0};        // mean of what lies between two steps, exponentially distributed
  Seconds length{3};     // of a replay,
  int least_steps = 10;  // at least so many steps,
  int most_steps = 64;   // at most so many
  std::uint64_t seed = 1;
};

// What data/predictors/replay.json says of real steps.
ReplayOptions replay_options();

// Means over the replays that alternate; where none does, over all.
struct Replayed {
  double alternating = 0;  // share of the replays that have bursts and idles (BIB)
  double amount = 0;       // in bursts; of one state its level
  double idle_amount = 0;
  double burst_s = 0;  // of one state: the share of bursts in a step
  double idle_s = 0;
  double burst_share = 0;  // of the time
  double mean = 0;         // over all samples
};

// Every curve of the role in one go: all see the same steps.
std::array<Replayed, kResources.size()> replay(const StepCurves& curves,
                                               const ReplayOptions& options = replay_options());

}  // namespace foretrain::inspector
