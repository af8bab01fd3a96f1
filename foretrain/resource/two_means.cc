// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/detail/two_means.h"

#include <algorithm>
#include <cstddef>

namespace foretrain::resource {

std::optional<TwoMeans> two_means(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  // Relative to the lowest and in units of the range, so that neither a large offset nor a large
  // scale costs digits.
  const double offset = values.front();
  const double range = values.back() - offset;
  if (!(range > 0)) return std::nullopt;
  const auto scaled = [&](std::size_t i) { return (values[i] - offset) / range; };

  const std::size_t count = values.size();
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) total += scaled(i);

  // The spread within both groups is least where nl nh (mh - ml)^2, the spread between them, is
  // greatest. A gain within rounding is a tie.
  constexpr double kTie = 1e-12;
  double best_spread = 0;
  std::optional<TwoMeans> best;
  double lower = 0;
  for (std::size_t i = 1; i < count; ++i) {
    lower += scaled(i - 1);
    if (values[i - 1] == values[i]) continue;
    const double low_count = static_cast<double>(i);
    const double high_count = static_cast<double>(count - i);
    const double low = lower / low_count;
    const double high = (total - lower) / high_count;
    const double spread = low_count * high_count * (high - low) * (high - low);
    if (!best || spread > best_spread * (1 + kTie)) {
      best_spread = spread;
      best = TwoMeans{.low = low, .high = high};
    }
  }
  best->low = offset + range * best->low;
  best->high = offset + range * best->high;
  return best;
}

}  // namespace foretrain::resource
