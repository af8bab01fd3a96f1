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
// does not have is absent (a recording that is all burst has no idle amount and no durations).
struct Bursts {
  Pattern pattern = Pattern::I;
  std::optional<double> burst_amount;
  std::optional<double> idle_amount;
  std::optional<Seconds> burst;
  std::optional<Seconds> idle;
  // Standard deviations over the complete bursts (idles) of the recording: of their mean amounts
  // and of their durations. Absent where there are fewer than two.
  std::optional<double> burst_amount_sd;
  std::optional<double> idle_amount_sd;
  std::optional<Seconds> burst_sd;
  std::optional<Seconds> idle_sd;
  // Of all time in bursts, incomplete ones too: 0 for I, 1 for B. Times the period of what repeats
  // it is the burst time per step, which does not flicker where two bursts merge into one or not.
  double burst_share = 0;
};

struct SplitOptions {
  Seconds window{0.01};     // of one sample
  Seconds smoothing{0};     // moving average over this long; 0: none
  Seconds shortest_run{0};  // shorter runs are merged into their neighbours
  double scale = 1;         // the full scale: 100 for percent, the peak rate for a link
};

// Splits equally spaced samples into bursts and idles.
//
//  1. Smoothing: the mean of an odd number of samples around each (an even one would move the
//     edges by half a sample; 40 ms of 10 ms samples become five).
//  2. One-dimensional k-means with k = 2, exact; the threshold lies midway between the centres.
//     Of two equally good divisions the one with the lower threshold is taken.
//  3. Centres closer than a tenth of the scale make one state: B when the mean of all samples is
//     above half the scale, else I.
//  4. Runs shorter than `shortest_run` are merged into their neighbours, the shortest first. The
//     first and the last run stay, since their true length is not known. When one run is left,
//     there is one state, as in 3.
//  5. The first and the last run are incomplete and dropped. Durations are means of complete
//     runs, amounts are means of the samples (not smoothed) in them.
//
// A state without a complete run (a recording with one or two switches) has no duration: it could
// only be bounded from below. Its amount is the mean over its incomplete runs, so a BIB always
// has both amounts. A sample that is not finite is taken to be like the one before it, so that
// time does not shrink; at both ends of the recording such samples are cut off. Absent when no
// finite sample is left.
//
// A square wave is recovered exactly when the smoothing is short beside its runs: always without
// smoothing, runs of three samples or more when smoothed over three, of eight or more over five.
// Source: Driple (SIGMETRICS 2022); the choices that it leaves open are in
// docs/models/resources.md.
std::optional<Bursts> split_bursts(const std::vector<double>& samples, const SplitOptions& options);

}  // namespace foretrain::resource
