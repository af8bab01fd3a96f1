// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/period.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace foretrain::profile {
namespace {

constexpr double kLeastPeak = 0.5;
constexpr double kOfHighest = 0.9;
constexpr std::size_t kLeastSamples = 12;
constexpr std::size_t kMostSamples = 20'000;  // the work grows with the square: 200 s at 10 ms

// Deviations from the mean of the last samples; what is not finite deviates by nothing.
std::vector<double> deviations(const std::vector<double>& samples) {
  const std::size_t count = std::min(samples.size(), kMostSamples);
  std::vector<double> curve(samples.end() - static_cast<std::ptrdiff_t>(count), samples.end());
  double sum = 0;
  double finite = 0;
  for (const double sample : curve) {
    if (!std::isfinite(sample)) continue;
    sum += sample;
    ++finite;
  }
  const double mean = finite > 0 ? sum / finite : 0;
  for (double& sample : curve) sample = std::isfinite(sample) ? sample - mean : 0;
  return curve;
}

// Correlation with itself at lags from 0 to a half of the recording; 1 at 0. Each lag is measured
// by the samples that have a partner, so a long lag is not damped. Empty where the curve is flat.
std::vector<double> autocorrelation(const std::vector<double>& curve) {
  const std::size_t lags = curve.size() / 2;
  std::vector<double> result(lags);
  for (std::size_t lag = 0; lag < lags; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < curve.size(); ++i) sum += curve[i] * curve[i - lag];
    result[lag] = sum / static_cast<double>(curve.size() - lag);
  }
  const double variance = result.empty() ? 0 : result.front();
  if (!(variance > 0)) return {};
  for (double& value : result) value /= variance;
  return result;
}

// The place of the highest point of the parabola through three neighbours.
double refined(const std::vector<double>& curve, std::size_t i) {
  const double bend = curve[i - 1] - 2 * curve[i] + curve[i + 1];
  const auto place = static_cast<double>(i);
  return bend < 0 ? place + 0.5 * (curve[i - 1] - curve[i + 1]) / bend : place;
}

bool is_peak(const std::vector<double>& curve, std::size_t i) {
  return i > 0 && i + 1 < curve.size() && curve[i] >= curve[i - 1] && curve[i] > curve[i + 1];
}

// A peak counts once the correlation has fallen below half since lag 0.
std::vector<std::size_t> peaks_of(const std::vector<double>& correlation) {
  std::vector<std::size_t> peaks;
  const auto fallen = std::find_if(correlation.begin(), correlation.end(),
                                   [](double value) { return value < kLeastPeak; });
  for (auto i = static_cast<std::size_t>(fallen - correlation.begin()); i < correlation.size();
       ++i) {
    if (is_peak(correlation, i) && correlation[i] >= kLeastPeak) peaks.push_back(i);
  }
  return peaks;
}

// The peak nearest to `place`; absent where the next one is a quarter of `period` away.
std::optional<double> peak_near(const std::vector<double>& correlation, double place,
                                double period) {
  std::optional<double> best;
  const auto from = static_cast<std::size_t>(std::max(1.0, place - period / 4));
  const auto to = static_cast<std::size_t>(place + period / 4);
  for (std::size_t i = from; i <= to && i < correlation.size(); ++i) {
    if (!is_peak(correlation, i) || correlation[i] < kLeastPeak) continue;
    const double at = refined(correlation, i);
    if (!best || std::abs(at - place) < std::abs(*best - place)) best = at;
  }
  return best;
}

}  // namespace

std::optional<Seconds> find_period(const std::vector<double>& samples, Seconds window) {
  if (samples.size() < kLeastSamples) return std::nullopt;
  const std::vector<double> correlation = autocorrelation(deviations(samples));
  const std::vector<std::size_t> peaks = peaks_of(correlation);
  if (peaks.empty()) return std::nullopt;
  double highest = 0;
  for (const std::size_t peak : peaks) highest = std::max(highest, correlation[peak]);
  const auto first = std::find_if(peaks.begin(), peaks.end(), [&](std::size_t peak) {
    return correlation[peak] >= kOfHighest * highest;
  });
  double period = refined(correlation, *first);
  // The same peak after k periods tells the period k times as sharply.
  const double longest = static_cast<double>(samples.size()) / 3;
  for (double k = 2; k * period < longest; ++k) {
    const auto peak = peak_near(correlation, k * period, period);
    if (!peak) break;
    period = *peak / k;
  }
  return period * window;
}

}  // namespace foretrain::profile
