// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::resource {

// B: always busy; I: always idle; BIB: bursts and idles alternate.
enum class Pattern { B, I, BIB };

const char* to_string(Pattern pattern);

// How a resource's use alternates. Amounts are in the unit of the samples; what a pattern
// does not have is absent (a trace that is all burst has no idle amount and no durations).
struct Bursts {
  Pattern pattern = Pattern::I;
  std::optional<double> burst_amount;
  std::optional<double> idle_amount;
  std::optional<Seconds> burst;
  std::optional<Seconds> idle;
};

struct SplitOptions {
  Seconds window{0.01};    // of one sample
  Seconds smoothing{0};    // moving average over this long; 0: none
  Seconds shortest_run{0};  // shorter runs are merged into their neighbours
  double scale = 1;        // the full scale: 100 for percent, the peak rate for a link
};

// Splits equally spaced samples into bursts and idles: smoothing; one-dimensional k-means
// with k = 2, threshold midway; centres closer than a tenth of the scale make one state
// (B above half the scale, else I); the first and the last run are incomplete and dropped;
// durations are means of complete runs, amounts means of the samples in them. Samples that
// are not finite are left out. Absent when no sample is left.
// Source: Driple (SIGMETRICS 2022); the choices that it leaves open are in docs/models.md.
std::optional<Bursts> split_bursts(const std::vector<double>& samples, const SplitOptions& options);

// A constant level between two times.
struct Level {
  Seconds start{0};
  Seconds end{0};
  double amount = 0;
};

// Averages levels (overlapping ones add up) over windows that cover [0, end). The last window
// is left out when it is not whole.
std::vector<double> sample_levels(const std::vector<Level>& levels, Seconds end, Seconds window);

}  // namespace foretrain::resource
