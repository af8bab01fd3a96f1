// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/bursts.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>

#include "foretrain/resource/detail/two_means.h"
#include "foretrain/resource/detail/windows.h"

namespace foretrain::resource {
namespace {

// Consecutive samples of one state.
struct Run {
  bool burst = false;
  std::size_t first = 0;
  std::size_t length = 0;
};

struct Mean {
  double sum = 0;
  double count = 0;
  void add(double value) {
    sum += value;
    count += 1;
  }
  double value() const { return sum / count; }
};

// Of a sample; absent for fewer than two values.
std::optional<double> standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  Mean mean;
  for (const double value : values) mean.add(value);
  double squares = 0;
  for (const double value : values) squares += (value - mean.value()) * (value - mean.value());
  const double deviation = std::sqrt(squares / (mean.count - 1));
  constexpr double kRounding = 1e-12;  // equal values leave no more than that
  return deviation > kRounding * std::abs(mean.value()) ? deviation : 0;
}

// The samples from the first to the last finite one; in between, each that is not finite is like
// the one before it.
std::vector<double> without_holes(const std::vector<double>& samples) {
  const auto finite = [](double sample) { return std::isfinite(sample); };
  const auto first = std::find_if(samples.begin(), samples.end(), finite);
  const auto last = std::find_if(samples.rbegin(), samples.rend(), finite).base();
  if (first == samples.end()) return {};
  std::vector<double> curve(first, last);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    if (!std::isfinite(curve[i])) curve[i] = curve[i - 1];
  }
  return curve;
}

// The mean over `half` samples on either side of each; fewer at the ends. The sum slides, so its
// cost does not depend on `half`.
std::vector<double> smoothed(const std::vector<double>& curve, std::size_t half) {
  if (half == 0) return curve;
  const std::size_t count = curve.size();
  std::vector<double> result(count);
  double sum = 0;
  std::size_t first = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (; end < count && end <= i + half; ++end) sum += curve[end];
    for (; first + half < i; ++first) sum -= curve[first];
    result[i] = sum / static_cast<double>(end - first);
  }
  return result;
}

std::vector<Run> runs_above(const std::vector<double>& curve, double threshold) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const bool burst = curve[i] > threshold;
    if (runs.empty() || runs.back().burst != burst) runs.push_back({burst, i, 0});
    ++runs.back().length;
  }
  return runs;
}

// Merges inner runs of at most `length` samples, from the left: such a run and the one after it
// become part of the one before.
void merge_runs_up_to(std::size_t length, std::vector<Run>& runs) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool inner = kept > 0 && i + 1 < runs.size();
    if (inner && runs[i].length <= length) {
      runs[kept - 1].length += runs[i].length + runs[i + 1].length;
      ++i;
    } else {
      runs[kept++] = runs[i];
    }
  }
  runs.resize(kept);
}

void merge_short_runs(std::size_t shortest, std::vector<Run>& runs) {
  for (std::size_t length = 1; length < shortest && runs.size() > 2; ++length) {
    merge_runs_up_to(length, runs);
  }
}

Bursts one_state(const std::vector<double>& samples, double scale) {
  Mean mean;
  for (const double sample : samples) mean.add(sample);
  Bursts bursts;
  if (mean.value() > scale / 2) {
    bursts.pattern = Pattern::B;
    bursts.burst_amount = mean.value();
    bursts.burst_share = 1;
  } else {
    bursts.pattern = Pattern::I;
    bursts.idle_amount = mean.value();
  }
  return bursts;
}

double burst_share(const std::vector<Run>& runs) {
  double in_bursts = 0;
  double all = 0;
  for (const Run& run : runs) {
    all += static_cast<double>(run.length);
    if (run.burst) in_bursts += static_cast<double>(run.length);
  }
  return in_bursts / all;
}

// What the runs of one state have in common.
struct Summary {
  double amount = 0;
  std::optional<Seconds> duration;
  std::optional<double> amount_sd;
  std::optional<Seconds> duration_sd;
};

Summary summarise(const std::vector<double>& samples, const std::vector<Run>& runs, bool burst,
                  Seconds window) {
  Mean in_complete;
  Mean in_incomplete;
  Mean length;
  std::vector<double> amounts;  // of each complete run
  std::vector<double> lengths;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].burst != burst) continue;
    const bool complete = i > 0 && i + 1 < runs.size();
    Mean& amount = complete ? in_complete : in_incomplete;
    Mean of_run;
    const auto in_run = std::span(samples).subspan(runs[i].first, runs[i].length);
    for (const double sample : in_run) {
      amount.add(sample);
      of_run.add(sample);
    }
    if (!complete) continue;
    length.add(static_cast<double>(runs[i].length));
    lengths.push_back(static_cast<double>(runs[i].length));
    amounts.push_back(of_run.value());
  }
  Summary summary;
  summary.amount = length.count == 0 ? in_incomplete.value() : in_complete.value();
  if (length.count > 0) summary.duration = length.value() * window;
  summary.amount_sd = standard_deviation(amounts);
  if (const auto sd = standard_deviation(lengths)) summary.duration_sd = *sd * window;
  return summary;
}

}  // namespace

const char* to_string(Pattern pattern) {
  constexpr std::array kNames{"B", "I", "BIB"};
  return kNames.at(static_cast<std::size_t>(pattern));
}

std::optional<Bursts> split_bursts(const std::vector<double>& samples,
                                   const SplitOptions& options) {
  assert(options.window > Seconds{0} && options.scale > 0);
  const std::vector<double> known = without_holes(samples);
  if (known.empty()) return std::nullopt;

  const auto half =
      static_cast<std::size_t>(std::round(windows_in(options.smoothing, options.window)) / 2);
  const std::vector<double> curve = smoothed(known, half);
  // Centres lie between the lowest and the highest sample, so that a flat curve need not be sorted.
  const double least_distance = options.scale / 10;
  constexpr double kRounding = 1e-9;
  const auto [lowest, highest] = std::minmax_element(curve.begin(), curve.end());
  if (*highest - *lowest < least_distance * (1 - kRounding)) return one_state(known, options.scale);
  const std::optional<TwoMeans> centres = two_means(curve);
  if (!centres || centres->high - centres->low < least_distance) {
    return one_state(known, options.scale);
  }

  std::vector<Run> runs = runs_above(curve, centres->low + (centres->high - centres->low) / 2);
  const auto shortest =
      static_cast<std::size_t>(std::ceil(windows_in(options.shortest_run, options.window)));
  merge_short_runs(shortest, runs);
  if (runs.size() == 1) return one_state(known, options.scale);

  const Summary burst = summarise(known, runs, true, options.window);
  const Summary idle = summarise(known, runs, false, options.window);
  return Bursts{.pattern = Pattern::BIB,
                .burst_amount = burst.amount,
                .idle_amount = idle.amount,
                .burst = burst.duration,
                .idle = idle.duration,
                .burst_amount_sd = burst.amount_sd,
                .idle_amount_sd = idle.amount_sd,
                .burst_sd = burst.duration_sd,
                .idle_sd = idle.duration_sd,
                .burst_share = burst_share(runs)};
}

}  // namespace foretrain::resource
